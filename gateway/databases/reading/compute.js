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

/** As PostgreSQL and MySQL say it, and InfluxDB. */
const OVERFLOW = /value (is )?out of range|unsupported value: /

/** Count, mean, bounds, spread, sum, first and last of the numbers given, in one pass and without the errors of large sums (Welford). */
export class Moments {
  count = 0
  mean = 0
  min = Infinity
  max = -Infinity
  sum = 0
  /** @type {number|undefined} */
  first
  /** @type {number|undefined} */
  last
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
    this.sum += value
    this.first ??= value
    this.last = value
  }

  /** Of a sample; undefined of a single value. */
  get stddev () {
    return this.count > 1 ? Math.sqrt(this.#squares / (this.count - 1)) : undefined
  }
}

/** @param {Pick<Reader, 'samples'>} reader @param {Parameters<Reader['summaries']>[0]} range @returns {Promise<Summary[]>} */
export async function summariesOf (reader, { bucketNs, statistics, together = false, ...range }) {
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
      const of = together ? '' : sensor
      let moments = bucket.get(of)
      if (!moments) {
        if (++summaries > MAX_SUMMARIES) throw tooManySummaries()
        bucket.set(of, moments = new Moments())
      }
      moments.add(number)
    }
  }
  const found = [...buckets].flatMap(([time, bucket]) =>
    [...bucket].map(([sensor, moments]) => summary(time, sensor, moments, statistics)))
  return inOrder(found, range.sensors)
}

/**
 * Summaries by the server, or by its samples where it refuses what is more than a number can be.
 * @param {Pick<Reader, 'samples'|'summaries'>} reader
 * @param {Parameters<Reader['summaries']>[0]} range
 */
export async function summariesIn (reader, range) {
  try {
    return await reader.summaries(range)
  } catch (error) {
    if (!OVERFLOW.test(/** @type {Error} */ (error).message)) throw error
    return summariesOf(reader, range)
  }
}

/** What `pooled` needs to know of each sensor. @param {Statistic[]} statistics @returns {Statistic[]} */
export function poolable (statistics) {
  /** @type {Statistic[]} */
  const mean = statistics.includes('stddev') ? ['mean'] : []
  return [...new Set(/** @type {Statistic[]} */ ([...statistics, 'count', ...mean]))]
}

/**
 * The summaries of all sensors together, by those of each: their statistics are `poolable`, without first and last.
 * @param {Summary[]} summaries  in the order of time
 * @param {Statistic[]} statistics
 * @returns {Summary[]}
 */
export function pooled (summaries, statistics) {
  return Array.from(Map.groupBy(summaries, ({ time }) => time), ([time, all]) => {
    const of = (/** @type {Statistic} */ name) => all.map(each => each[name] ?? 0)
    const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, number) => total + number, 0)
    const count = sum(of('count'))
    const mean = sum(all.map(each => (each.mean ?? 0) * (each.count ?? 0) / count))
    const squares = sum(all.map(({ stddev: own = 0, count: n = 1, mean: its = 0 }) => own ** 2 * (n - 1) + n * (its - mean) ** 2))
    const stddev = count > 1 ? Math.sqrt(squares / (count - 1)) : undefined
    const [min, max] = [Math.min(...of('min')), Math.max(...of('max'))]
    return summary(time, '', { count, mean, min, max, stddev, sum: sum(of('sum')) }, statistics)
  })
}

/** Whether a database is to compute them: the value at a time it mostly finds no faster. @param {Statistic[]} statistics */
export function needSamples (statistics) {
  return statistics.includes('first') || statistics.includes('last')
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
