import { edgeOf, minimumOf } from '../databases/reading/compute.js'
import { range, sensors, tags } from './parameters.js'
import { floor } from '../batch/layouts.js'

/**
 * One cycle of a machine around a time, with sums of its sensors: the reader of Arnst, Plenk and Wöltche, "Comparative Evaluation of
 * Database Read and Write Performance in an Internet of Things Context". The machine's angle rises from 0 to its amplitude and falls back,
 * with noise on it.
 *
 * @typedef {import('../databases/reader.js').Reader} Reader
 * @typedef {import('../databases/reader.js').Sample} Sample
 * @typedef {Pick<Reader, 'edge'|'minimum'>} Searchable
 * @typedef {{from: bigint, to: bigint, tags?: import('../databases/reader.js').WantedTags, signal?: AbortSignal}} Span
 * @typedef {{start: bigint, end: bigint}} CycleTimes  both included
 *
 * @typedef {object} CycleParameters
 * @property {string[]} sensors
 * @property {string} angle
 * @property {number} amplitude
 * @property {bigint} at
 * @property {bigint} from  nothing outside the range is read
 * @property {bigint} to
 * @property {import('../databases/reader.js').WantedTags} [tags]
 * @property {AbortSignal} [signal]
 */

const SECOND = 1_000_000_000n

/** Random times to try: near the ends of the range there is no whole cycle. */
const MAX_RANDOM_TRIES = 10

/** @type {import('./index.js').Query} */
export const cycle = {
  title: 'Machine cycle',
  columns: () => ['time', 'end', 'sensor', 'count', 'sum'],
  schema: {
    type: 'object',
    properties: {
      sensors: { ...sensors, description: 'The sensors to sum over the cycle, with or without the angle.' },
      ...range,
      tags,
      at: {
        type: 'string',
        title: 'Around',
        description: 'A time in or shortly before the cycle; an empty range is then the window around it. Empty: a random time in the ' +
          'range.',
        default: ''
      },
      strategy: {
        type: 'string',
        title: 'Strategy',
        description: 'individual: the database finds each end of the cycle. bulk: two seconds of all sensors are read and ' +
          'searched here. bulk-1: two seconds of the angle, then the cycle of the others.',
        enum: ['individual', 'bulk', 'bulk-1'],
        default: 'individual'
      },
      angle: { type: 'string', title: 'Angle', description: 'The sensor of the machine\'s angle.', minLength: 1, default: 'angle' },
      amplitude: {
        type: 'number',
        title: 'Amplitude',
        description: 'The highest value of the angle; the lowest is 0.',
        exclusiveMinimum: 0,
        default: 4096
      }
    }
  },
  async * read (reader, { strategy, ...parameters }, { signal }) {
    const read = strategies[/** @type {keyof strategies} */ (strategy)]
    const cycleAround = (/** @type {bigint} */ at) => read(reader, { ...parameters, sensors: [...new Set(parameters.sensors)], at, signal })
    if (parameters.at !== undefined) return yield await cycleAround(parameters.at)
    for (let tries = MAX_RANDOM_TRIES; tries > 0; tries--) {
      const rows = await cycleAround(timeWithin(parameters))
      if (rows.length > 0) return yield rows
    }
  }
}

/** @type {Record<'individual'|'bulk'|'bulk-1', (reader: Reader, parameters: any) => Promise<object[]>>} */
const strategies = {
  async individual (reader, parameters) {
    const times = await cycleTimes(reader, parameters)
    return times ? sums(await samplesOf(reader, parameters.sensors, times, parameters), parameters.sensors, times) : []
  },

  async bulk (reader, parameters) {
    const { sensors: names, angle } = parameters
    const block = await samplesOf(reader, [...new Set([angle, ...names])], blockAround(parameters.at), parameters)
    const times = await cycleTimes(new Block(block), parameters)
    return times ? sums(block, names, times) : []
  },

  async 'bulk-1' (reader, parameters) {
    const { sensors: names, angle } = parameters
    const block = await samplesOf(reader, [angle], blockAround(parameters.at), parameters)
    const times = await cycleTimes(new Block(block), parameters)
    if (!times) return []
    const others = names.filter((/** @type {string} */ name) => name !== angle)
    return sums([...block, ...await samplesOf(reader, others, times, parameters)], names, times)
  }
}

/**
 * From `at` forward to the first angle over half the amplitude (t1); from there back to one under an eighth (t2), and further back to one
 * over a half (t3): between these two, the cycle starts at the smallest angle (t4). It ends at the first angle after t1 that is under an
 * eighth (t5).
 * @param {Searchable} searchable
 * @param {CycleParameters} parameters
 * @returns {Promise<CycleTimes|null>} null without a whole cycle
 */
export async function cycleTimes (searchable, { angle: sensor, amplitude, at, from, to, tags: wanted, signal }) {
  const half = amplitude / 2
  const eighth = amplitude / 8
  const first = (/** @type {bigint} */ after, /** @type {object} */ limits) => (
    searchable.edge({ sensor, from: after + 1n, to, tags: wanted, ...limits, signal })
  )
  const lastBefore = (/** @type {bigint} */ end, /** @type {object} */ limits) => (
    searchable.edge({ sensor, from, to: end, tags: wanted, ...limits, last: true, signal })
  )

  const t1 = await first(at, { above: half })
  const t2 = t1 === null ? null : await lastBefore(t1, { below: eighth })
  const t3 = t2 === null ? null : await lastBefore(t2, { above: half })
  if (t1 === null || t2 === null || t3 === null) return null
  const t4 = await searchable.minimum({ sensor, from: t3, to: t2 + 1n, tags: wanted, signal })
  const t5 = await first(t1, { below: eighth })
  return t4 === null || t5 === null ? null : { start: t4, end: t5 }
}

/** The second of a time and its nearer neighbour. @param {bigint} at @returns {CycleTimes} */
function blockAround (at) {
  const second = floor(at, SECOND)
  const start = at - second < SECOND / 2n ? second - SECOND : second
  return { start, end: start + 2n * SECOND - 1n }
}

/** @param {Reader} reader @param {string[]} names @param {CycleTimes} times @param {Span} span  limits what is read */
async function samplesOf (reader, names, { start, end }, { from, to, tags: wanted, signal }) {
  /** @type {Sample[]} */
  const samples = []
  const last = end + 1n < to ? end + 1n : to
  for await (const page of reader.samples({ sensors: names, tags: wanted, from: start > from ? start : from, to: last, signal })) {
    samples.push(...page)
  }
  return samples
}

/** @param {Sample[]} samples @param {string[]} names @param {CycleTimes} times */
function sums (samples, names, { start, end }) {
  const totals = new Map(names.map(name => [name, { time: start, end, sensor: name, count: 0, sum: 0 }]))
  for (const { time, sensor, value } of samples) {
    const total = totals.get(sensor)
    if (!total || time < start || time > end) continue
    total.count++
    total.sum += Number(value)
  }
  return [...totals.values()].filter(({ count }) => count > 0)
}

/** Samples in memory, searched like a database. @implements {Searchable} */
class Block {
  #samples

  /** @param {Sample[]} samples */
  constructor (samples) {
    this.#samples = samples
  }

  /** @type {Reader['samples']} */
  async * samples ({ sensors: [sensor], from, to }) {
    yield this.#samples.filter(sample => sample.sensor === sensor && sample.time >= from && sample.time < to)
  }

  /** @type {Reader['edge']} */
  edge (limits) { return edgeOf(this, limits) }

  /** @type {Reader['minimum']} */
  minimum (limits) { return minimumOf(this, limits) }
}

/** @param {Span} span @returns {bigint} */
function timeWithin ({ from, to }) {
  return from + BigInt(Math.floor(Math.random() * Number(to - from)))
}
