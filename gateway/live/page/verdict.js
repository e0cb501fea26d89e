import { quantity } from '../../stats/format.js'
import { stageLevel } from './levels.js'
import { text } from './text.js'
import { clock, lasting } from './times.js'

/** Where sources send so long, and no sink stores a row, not all is right, though nothing may be wrong: a stage out may be disabled. */
const STILL_MS = 30_000

/**
 * @typedef {import('./plant.js').Plant} Plant
 * @typedef {object} Verdict  on the whole gateway
 * @property {import('./levels.js').Level} level
 * @property {string} sentence
 * @property {string} topic  the same for as long as it is about the same: figures in the sentence change it not
 */

/** @param {Plant} plant @param {number|null} goneSinceMs  when the last word came, while there is none @returns {Verdict} */
export function verdictOn (plant, goneSinceMs) {
  if (goneSinceMs !== null) {
    return { level: 'problem', sentence: text('verdict.gone', { time: clock(goneSinceMs) }), topic: `gone ${goneSinceMs}` }
  }
  if (!plant.tick) return { level: 'busy', sentence: text('verdict.connecting'), topic: 'connecting' }
  const { alarms, sinks, sources, stages } = plant
  const told = alarms.toSorted((a, b) => Number(a.acknowledgedMs !== null) - Number(b.acknowledgedMs !== null))
  if (told.length > 0) {
    const [{ what }] = told
    const more = told.length - 1
    const level = alarms.some(each => each.level === 'problem') ? 'problem' : 'warning'
    const sentence = more === 0 ? text('verdict.alarm', { what }) : text('verdict.alarms', { what, count: more })
    return { level, sentence, topic: alarms.map(alarm => `${alarm.id} ${alarm.level}`).toSorted().join('\n') }
  }
  if (!plant.tick.isRunning) return { level: 'busy', sentence: text('verdict.starting'), topic: 'starting' }
  const away = [...sinks, ...stages].find(({ isConnected }) => !isConnected)
  if (away) return { level: 'warning', sentence: text('verdict.away', { name: away.name }), topic: `away ${away.name}` }
  const { failed } = plant.tick
  if (failed) return { level: 'warning', sentence: text('verdict.red', { name: failed }), topic: `failed ${failed}` }
  const red = [...sinks, ...sources].find(({ level }) => level === 'problem') ?? stages.find(stage => stageLevel(stage) === 'problem')
  if (red) return { level: 'warning', sentence: text('verdict.red', { name: red.name }), topic: `red ${red.name}` }
  const isStaged = stages.some(({ maxBytes }) => maxBytes !== null)
  if (sources.length === 0 || sinks.length === 0 && !isStaged) return { level: 'idle', sentence: text('verdict.nothing'), topic: 'nothing' }
  const stillMs = plant.timeMs - plant.storedMs
  if (sinks.length > 0 && plant.sentRate > 0 && stillMs >= STILL_MS) {
    const sentence = text('verdict.still', { time: lasting(stillMs), rate: quantity(plant.sentRate) })
    return { level: 'idle', sentence, topic: 'still' }
  }
  return { level: 'good', sentence: allRight(plant), topic: 'good' }
}

/** A gateway may leave storing to another one. @param {Plant} plant */
function allRight ({ sources, sinks, storedRate }) {
  const counted = text('count.sources', { count: sources.length })
  if (sinks.length === 0) return text('verdict.staged', { sources: counted })
  return text('verdict.good', {
    sources: counted,
    sinks: text('count.sinks', { count: sinks.length }),
    rate: text('rate.stored', { rate: quantity(storedRate), count: storedRate })
  })
}
