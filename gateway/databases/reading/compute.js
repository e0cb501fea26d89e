import { SluiceError } from '../../base/errors.js'
import { floor } from '../../batch/layouts.js'

/**
 * What a reader computes itself, from its samples: for documents, and for servers without the functions. The memory it takes is that of a
 * page of samples and of the results.
 *
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {import('../reader.js').Summary} Summary
 */

/** Summaries of one query: all of them are held in memory, however many the query's limit lets through. */
export const MAX_SUMMARIES = 500_000

/** Count, mean, bounds and spread of the numbers given, in one pass and without the errors of large sums (Welford). */
export class Moments {
  count = 0
  mean = 0
  min = Infinity
  max = -Infinity
  /** sum of the squares of the deviations from the mean */
  #squares = 0

  /** @param {number} value */
  add (value) {
    this.count++
    const before = value - this.mean
    this.mean += before / this.count
    this.#squares += before * (value - this.mean)
    if (value < this.min) this.min = value
    if (value > this.max) this.max = value
  }

  /** Of a sample; undefined of a single value. */
  get stddev () {
    return this.count > 1 ? Math.sqrt(this.#squares / (this.count - 1)) : undefined
  }
}

/** @param {Pick<Reader, 'samples'>} reader @param {Parameters<Reader['summaries']>[0]} range @returns {Promise<Summary[]>} */
export async function summariesOf (reader, { bucketNs, statistics, ...range }) {
  /** @type {Map<bigint, Map<string, Moments>>} */
  const buckets = new Map()
  let summaries = 0
  for await (const page of reader.samples(range)) {
    for (const { time, sensor, value } of page) {
      const number = numberOf(value)
      if (number === undefined) continue
      const start = bucketNs === undefined ? range.from : floor(time, bucketNs)
      let bucket = buckets.get(start)
      if (!bucket) buckets.set(start, bucket = new Map())
      let moments = bucket.get(sensor)
      if (!moments) {
        if (++summaries > MAX_SUMMARIES) throw tooManySummaries()
        bucket.set(sensor, moments = new Moments())
      }
      moments.add(number)
    }
  }
  const found = [...buckets].flatMap(([time, bucket]) =>
    [...bucket].map(([sensor, moments]) => summary(time, sensor, moments, statistics)))
  return inOrder(found, range.sensors)
}

/** Of a query whose summaries would fill the memory. */
export function tooManySummaries () {
  const limit = MAX_SUMMARIES.toLocaleString('en-US')
  return new SluiceError('SLUICE_QUERY_TOO_LARGE', `The query would have more than ${limit} intervals, counted for each sensor.`, {
    fix: 'Make the intervals longer, the range shorter, or the sensors fewer.'
  })
}

/** @param {Pick<Reader, 'samples'>} reader @param {Parameters<Reader['edge']>[0]} range @returns {Promise<bigint|null>} */
export async function edgeOf (reader, { sensor, above = Infinity, below = -Infinity, last = false, ...range }) {
  let found = null
  for await (const page of reader.samples({ ...range, sensors: [sensor] })) {
    for (const { time, value } of page) {
      const number = numberOf(value)
      if (number === undefined || !(number > above || number < below)) continue
      if (!last) return time
      found = time
    }
  }
  return found
}

/** @param {Pick<Reader, 'samples'>} reader @param {Parameters<Reader['minimum']>[0]} range @returns {Promise<bigint|null>} */
export async function minimumOf (reader, { sensor, ...range }) {
  let found = null
  let least = Infinity
  for await (const page of reader.samples({ ...range, sensors: [sensor] })) {
    for (const { time, value } of page) {
      const number = numberOf(value)
      if (number === undefined || !(found === null || number < least)) continue
      found = time
      least = number
    }
  }
  return found
}

/**
 * A summary with the statistics asked for, of one that may have more; those that are missing stay so.
 * @param {bigint} time
 * @param {string} sensor
 * @param {Partial<Record<Statistic, number|null|undefined>>} values
 * @param {Statistic[]} statistics
 * @returns {Summary}
 */
export function summary (time, sensor, values, statistics) {
  return { time, sensor, ...Object.fromEntries(statistics.flatMap(name => values[name] == null ? [] : [[name, values[name]]])) }
}

/**
 * Sorts by time and, at one time, by the order of the sensors asked for.
 * @template {{time: bigint, sensor: string}} T
 * @param {T[]} results
 * @param {string[]} sensors
 */
export function inOrder (results, sensors) {
  const places = new Map(sensors.map((sensor, place) => [sensor, place]))
  const place = (/** @type {T} */ { sensor }) => places.get(sensor) ?? -1
  return results.sort((a, b) => a.time < b.time ? -1 : a.time > b.time ? 1 : place(a) - place(b))
}

/** Texts have no mean; yes and no are 1 and 0. @param {Sample['value']} value @returns {number|undefined} */
function numberOf (value) {
  if (typeof value === 'string') return undefined
  const number = Number(value)
  return Number.isNaN(number) ? undefined : number
}
