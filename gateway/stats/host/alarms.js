import { inEnglish } from '../english.js'
import { measure } from '../format.js'
import { phrase } from '../phrases.js'

/**
 * From when on the machine's state is worth a warning. All of it is told in the report, whatever it is.
 *
 * @typedef {import('./host.js').HostState} HostState
 * @typedef {import('./space.js').Space} Space
 * @typedef {object} Alarm
 * @property {'temperature'|'power'|'card'|'space'|'files'} kind  never changes: programs go by it
 * @property {'warning'|'problem'} level
 * @property {string} what
 * @property {string} fix
 * @property {{what: Phrase, fix: Phrase}} phrases  the same in any language, without a point at the end
 *
 * @typedef {import('../phrases.js').Phrase} Phrase
 */

/** A Pi slows down from 80 °C on, and below 85 °C at the latest. */
const HOT_CELSIUS = 75
const TOO_HOT_CELSIUS = 82
/** Of a large disk 10 % is plenty: both have to be undercut. */
const SCARCE = { share: 0.1, bytes: 5e9 }
const NEARLY_FULL = { share: 0.03, bytes: 1e9 }
/** Less than this is nearly full, however small the disk. */
const LEAST_BYTES = 100e6
const WORN_PERCENT = 80
const WORN_OUT_PERCENT = 100

const MAKE_ROOM = phrase('host.room')
const COOL = phrase('host.cool')
const POWER = phrase('host.supply')
const REPLACE = phrase('host.replace')

/** @param {Alarm['kind']} kind @param {Alarm['level']} level @param {Phrase} what @param {Phrase} fix @returns {Alarm} */
function alarm (kind, level, what, fix) {
  return { kind, level, what: `${inEnglish(what)}.`, fix: inEnglish(fix), phrases: { what, fix } }
}

/** @param {Partial<HostState>} state @returns {Alarm[]} */
export function alarmsOf ({ temperatureCelsius, throttling, cards = [], disk }) {
  return [
    ...temperatureCelsius === undefined ? [] : temperatureAlarms(temperatureCelsius),
    ...throttling ? throttlingAlarms(throttling) : [],
    ...cards.flatMap(cardAlarms),
    ...disk ? spaceAlarms(disk) : []
  ]
}

/** @param {number} celsius @returns {Alarm[]} */
function temperatureAlarms (celsius) {
  if (celsius < HOT_CELSIUS) return []
  const level = celsius < TOO_HOT_CELSIUS ? 'warning' : 'problem'
  return [alarm('temperature', level, phrase('host.temperature', { celsius: celsius.toFixed(0) }), COOL)]
}

/** @param {import('./throttling.js').Throttling} throttling @returns {Alarm[]} */
function throttlingAlarms ({ now, sinceStart }) {
  const reasons = now.length > 0 ? now : sinceStart
  if (reasons.length === 0) return []
  const fix = reasons.includes('underVoltage') ? POWER : COOL
  const when = now.length > 0 ? 'host.power.now' : 'host.power.before'
  const level = now.includes('underVoltage') ? 'problem' : 'warning'
  return [alarm('power', level, phrase(when, { reasons: reasons.map(reason => phrase(`host.power.${reason}`)) }), fix)]
}

/** @param {import('./cards.js').Card} card @returns {Alarm[]} */
function cardAlarms ({ name, wornPercent, reserve }) {
  const isOut = wornPercent > WORN_OUT_PERCENT || reserve === 'urgent'
  if (!isOut && wornPercent < WORN_PERCENT && reserve !== 'warning') return []
  const used = reserve === 'urgent' ? 90 : reserve === 'warning' ? 80 : null
  const left = used === null ? '' : phrase('host.card.left', { percent: used })
  const what = phrase(wornPercent > WORN_OUT_PERCENT ? 'host.card.out' : 'host.card', { name, percent: wornPercent, left })
  return [alarm('card', isOut ? 'problem' : 'warning', what, REPLACE)]
}

/** @param {Space} space @returns {Alarm[]} */
export function spaceAlarms ({ freeBytes, totalBytes, freeInodes = 1, totalInodes = 1 }) {
  const isBelow = (/** @type {typeof SCARCE} */ { share, bytes }) => freeBytes < totalBytes * share && freeBytes < bytes
  const isFull = isBelow(NEARLY_FULL) || freeBytes < LEAST_BYTES && totalBytes > 0 // which it is of what is no disk
  /** @type {Alarm[]} */
  const alarms = []
  if (isFull || isBelow(SCARCE)) {
    const what = phrase('host.space', { free: measure(freeBytes, 'B'), total: measure(totalBytes, 'B') })
    alarms.push(alarm('space', isFull ? 'problem' : 'warning', what, MAKE_ROOM))
  }
  if (freeInodes < totalInodes * SCARCE.share) {
    const level = freeInodes < totalInodes * NEARLY_FULL.share ? 'problem' : 'warning'
    alarms.push(alarm('files', level, phrase('host.files', { free: freeInodes, total: totalInodes }), MAKE_ROOM))
  }
  return alarms
}
