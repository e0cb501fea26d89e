import { derive, fractionAt } from '../../../base/random.js'
import { chill, warm } from '../../../queries/cold.js'
import { run } from '../../../queries/run.js'
import { readerTypes, serverTypes } from '../../../databases/index.js'
import { PAGE_ROWS } from '../../../databases/reading/pages.js'
import { SENSOR, TABLE, VALUE } from './batches.js'

/**
 * The five queries, as the query node runs them.
 *
 * @typedef {object} Asked
 * @property {string} name  of the product's query
 * @property {string} operation  as QueryType
 * @property {string} title
 * @property {number} sensors  that are asked for
 * @property {number} minutes
 * @property {boolean} [hasBuckets]
 *
 * @typedef {object} Choices  what a user may have set instead of the paper's
 * @property {number} [durationMinutes]
 * @property {number} [aggregationIntervalHour]
 * @property {string} [sensorsFilter]  numbers with commas
 * @property {number} [sensorId]  Q2's
 * @property {number} [firstSensorId]  Q5's
 * @property {number} [secondSensorId]
 * @property {number} [minValue]
 * @property {number} [maxValue]
 *
 * @typedef {object} Dataset  what is stored
 * @property {number} sensors
 * @property {bigint} startNs
 * @property {bigint} endNs
 *
 * @typedef {object} Ran
 * @property {number} microseconds
 * @property {number} points  rows of the answer
 * @property {bigint} from
 * @property {number} endedMs
 * @property {import('../../../queries/cold.js').Cache} cache
 */

/** @type {Record<string, Asked>} */
export const QUERIES = {
  Q1: { name: 'raw', operation: 'RangeQueryRawData', title: 'raw values', sensors: 10, minutes: 10 },
  Q2: { name: 'out-of-range', operation: 'OutOfRangeQuery', title: 'out of range', sensors: 1, minutes: 180, hasBuckets: true },
  Q3: { name: 'deviation', operation: 'STDDevQuery', title: 'standard deviation', sensors: 10, minutes: 60 },
  Q4: { name: 'mean', operation: 'RangeQueryAggData', title: 'hourly means', sensors: 10, minutes: 1440, hasBuckets: true },
  Q5: {
    name: 'difference', operation: 'DifferenceAggQuery', title: 'difference of hourly means', sensors: 2, minutes: 1440, hasBuckets: true
  }
}

/** Those of the published configuration: most intervals have a value outside. */
export const MIN_VALUE = 100_000
export const MAX_VALUE = 20_000_000

const MINUTE_NS = 60_000_000_000n
const SEED = 15

/**
 * What the nth run of a query asks for: the same of every database, another window and other sensors in each.
 * @param {string} id  Q1 … Q5
 * @param {Dataset} dataset @param {number} repetition @param {Choices} [choices]
 * @returns {{name: string, [parameter: string]: unknown, from: bigint, to: bigint}}
 */
export function asked (id, { sensors, startNs, endNs }, repetition, choices = {}) {
  const query = QUERIES[id]
  const seed = derive(SEED, repetition)
  const lengthNs = least(BigInt(Math.round((choices.durationMinutes ?? query.minutes) * Number(MINUTE_NS))), endNs - startNs)
  const from = startNs + BigInt(Math.floor(fractionAt(seed, 0) * Number(endNs - startNs - lengthNs)))
  const chosen = chosenSensors(id, choices)
  return {
    name: query.name,
    sensors: (chosen.length > 0 ? chosen : someOf(sensors, query.sensors, seed)).map(String),
    from,
    to: from + lengthNs,
    ...query.hasBuckets && { bucketHours: choices.aggregationIntervalHour ?? 1 },
    ...id === 'Q2' && { lower: choices.minValue ?? MIN_VALUE, upper: choices.maxValue ?? MAX_VALUE }
  }
}

/** @param {string} id @param {Choices} choices @returns {number[]} none: any */
function chosenSensors (id, { sensorsFilter, sensorId, firstSensorId, secondSensorId }) {
  const filter = sensorsFilter ? sensorsFilter.split(',').map(Number) : []
  if (id === 'Q2') return sensorId === undefined ? filter.slice(0, 1) : [sensorId]
  if (id !== 'Q5') return filter
  return firstSensorId === undefined || secondSensorId === undefined ? filter.slice(0, 2) : [firstSensorId, secondSensorId]
}

/** Different ones. @param {number} sensors @param {number} count @param {number} seed */
function someOf (sensors, count, seed) {
  /** @type {Set<number>} */
  const chosen = new Set()
  for (let i = 1; chosen.size < Math.min(count, sensors); i++) chosen.add(Math.floor(fractionAt(seed, i) * sensors))
  return [...chosen]
}

/**
 * Runs a query once, from caches that are as empty as is permitted. A connection is there before the clock starts.
 * @param {ReturnType<typeof asked>} query
 * @param {import('./opened.js').Opened} opened
 * @param {{isCold: boolean, signal: AbortSignal, drop?: () => Promise<void>}} options  `drop` empties the system's caches
 * @returns {Promise<Ran>}
 */
export async function runOnce (query, opened, { isCold, signal, drop }) {
  const cache = isCold ? await chilled(opened, { signal, drop }) : warm('not asked to be cold')
  const { type, options, login } = opened.address
  const server = login ? (await serverTypes[type]()).connect({ ...login, connections: 1 }) : null
  const { open } = await readerTypes[type]()
  const place = 'file' in options ? { file: options.file } : {}
  const reader = await open({ ...place, table: TABLE, layout: 'narrow', sensorColumn: SENSOR, valueColumn: VALUE }, { server })
  try {
    await server?.test({ signal })
    let points = 0
    const began = performance.now()
    for await (const { rows } of run(reader, query, { signal, limit: Infinity, pageRows: PAGE_ROWS })) points += rows.length
    const microseconds = Math.round((performance.now() - began) * 1000)
    return { microseconds, points, from: query.from, endedMs: Date.now(), cache }
  } finally {
    await reader.close().finally(() => server?.close())
  }
}

/**
 * @param {Pick<import('./opened.js').Opened, 'restart'|'address'>} opened
 * @param {{signal: AbortSignal, drop?: () => Promise<void>}} options
 * @returns {Promise<import('../../../queries/cold.js').Cache>}
 */
async function chilled ({ restart, address: { login } }, options) {
  if (!login) return chill({ restart: '', ...options })
  if (!restart) return warm('the server may not be restarted')
  await restart()
  const { cache, cacheReason } = await chill({ restart: '', ...options })
  return { cache, cacheReason: `the server was restarted, and ${cacheReason}` }
}

/** @param {bigint} a @param {bigint} b */
function least (a, b) { return a < b ? a : b }
