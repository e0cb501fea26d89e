import { measure } from '../format.js'

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

const MAKE_ROOM =
  'Make room: sluice sinks list shows what spools take, du -xh / | sort -h | tail what else does. A sink may have a maximum age.'
const COOL = 'Give it air or a heat sink, and see what takes the processor.'
const POWER = 'Use the power supply made for it and a short thick cable; a USB adapter that takes much needs a hub of its own.'
const REPLACE = 'Copy it while it still reads (sudo dd), and replace it by one made for endurance.'

/** @type {Record<import('./throttling.js').Reason, string>} */
const SLOWED = {
  underVoltage: 'the supply voltage was too low',
  frequencyCapped: 'the processor\'s frequency was capped',
  throttled: 'the processor was throttled',
  softTemperatureLimit: 'the temperature limit was reached'
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
  return [{ kind: 'temperature', level, what: `The processor has ${celsius.toFixed(0)} °C.`, fix: COOL }]
}

/** @param {import('./throttling.js').Throttling} throttling @returns {Alarm[]} */
function throttlingAlarms ({ now, sinceStart }) {
  const reasons = now.length > 0 ? now : sinceStart
  if (reasons.length === 0) return []
  const fix = reasons.includes('underVoltage') ? POWER : COOL
  const when = now.length > 0 ? 'Now:' : 'Since the machine started:'
  const level = now.includes('underVoltage') ? 'problem' : 'warning'
  return [{ kind: 'power', level, what: `${when} ${reasons.map(reason => SLOWED[reason]).join(', ')}.`, fix }]
}

/** @param {import('./cards.js').Card} card @returns {Alarm[]} */
function cardAlarms ({ name, wornPercent, reserve }) {
  const isOut = wornPercent > WORN_OUT_PERCENT || reserve === 'urgent'
  if (!isOut && wornPercent < WORN_PERCENT && reserve !== 'warning') return []
  const worn = wornPercent > WORN_OUT_PERCENT ? 'all' : `${wornPercent} %`
  const left = reserve === 'urgent' ? ', and 90 % of its reserve' : reserve === 'warning' ? ', and 80 % of its reserve' : ''
  const what = `The card ${name} has used ${worn} of its life${left}.`
  return [{ kind: 'card', level: isOut ? 'problem' : 'warning', what, fix: REPLACE }]
}

/** @param {Space} space @returns {Alarm[]} */
export function spaceAlarms ({ freeBytes, totalBytes, freeInodes = 1, totalInodes = 1 }) {
  const isBelow = (/** @type {typeof SCARCE} */ { share, bytes }) => freeBytes < totalBytes * share && freeBytes < bytes
  const isFull = isBelow(NEARLY_FULL) || freeBytes < LEAST_BYTES && totalBytes > 0 // which it is of what is no disk
  /** @type {Alarm[]} */
  const alarms = []
  if (isFull || isBelow(SCARCE)) {
    const what = `${measure(freeBytes, 'B')} of ${measure(totalBytes, 'B')} are free.`
    alarms.push({ kind: 'space', level: isFull ? 'problem' : 'warning', what, fix: MAKE_ROOM })
  }
  if (freeInodes < totalInodes * SCARCE.share) {
    const level = freeInodes < totalInodes * NEARLY_FULL.share ? 'problem' : 'warning'
    alarms.push({ kind: 'files', level, what: `${freeInodes} of ${totalInodes} files are left: no more can be made then.`, fix: MAKE_ROOM })
  }
  return alarms
}
