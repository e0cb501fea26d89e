import { formatTime } from '../batch/time.js'
import { summariesIn } from '../databases/reading/compute.js'

/**
 * Whether the target has of a stretch of time what the source has: how many values of each sensor, and their sum.
 *
 * @typedef {import('../databases/reader.js').Reader} Reader
 * @typedef {import('./windows.js').Plan} Plan
 * @typedef {{from: string, sensor: string, here: string, there: string}} Difference  of a part of the stretch
 */

/** Into so many parts the stretch is divided. */
const PARTS = 100n
const SENSORS_AT_ONCE = 50
/** Of sums, which databases add up in different orders. */
const TOLERANCE = 1e-9

/**
 * @param {{from: Reader, to: Reader, sensors: string[], plan: Plan, signal?: AbortSignal}} asked
 * @returns {Promise<Difference[]>}
 */
export async function differences ({ from, to, sensors, plan: { since, until, windowNs }, signal }) {
  const windows = (until - since) / windowNs / PARTS + 1n
  const range = { from: since, to: until, bucketNs: windows * windowNs, statistics: /** @type {any} */ (['count', 'sum']), signal }
  /** @type {Difference[]} */
  const found = []
  for (let first = 0; first < sensors.length; first += SENSORS_AT_ONCE) {
    const some = sensors.slice(first, first + SENSORS_AT_ONCE)
    const [here, there] = await Promise.all([from, to].map(async reader => {
      const summaries = await summariesIn(reader, { ...range, sensors: some })
      return new Map(summaries.map(summary => [`${summary.time} ${summary.sensor}`, summary]))
    }))
    for (const key of new Set([...here.keys(), ...there.keys()])) {
      const [a, b] = [here.get(key), there.get(key)]
      if (a && b && a.count === b.count && isClose(a.sum ?? 0, b.sum ?? 0)) continue
      const { time, sensor } = /** @type {import('../databases/reader.js').Summary} */ (a ?? b)
      found.push({ from: formatTime(time), sensor, here: told(a), there: told(b) })
    }
  }
  return found
}

/**
 * Sums that are more than a number can be say nothing: they are infinite in one database, and no number in another.
 * @param {number} a
 * @param {number} b
 */
function isClose (a, b) {
  return !(Math.abs(a - b) > TOLERANCE * Math.max(Math.abs(a), Math.abs(b)))
}

/** @param {import('../databases/reader.js').Summary|undefined} summary */
function told (summary) {
  return summary ? `${summary.count} values, sum ${summary.sum}` : 'nothing'
}
