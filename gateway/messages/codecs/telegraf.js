import { MAX_FIELDS, MAX_ROWS, tooLarge } from '../bounds.js'
import { TOO_MANY_FIELDS, cellsOf } from '../cells.js'
import { Gatherer } from '../gatherer.js'
import { Refusals } from '../refusals.js'
import { isPlainObject } from '../rows.js'
import { Batch } from '../../batch/batch.js'
import { NANOSECONDS_PER, parseTime } from '../../batch/time.js'
import { describe } from '../../base/errors.js'
import { together } from './alike/together.js'

/**
 * What Telegraf publishes with `data_format = "json"`: `{fields: {…}, name, tags: {…}, timestamp}`, or a batch of them, `{metrics: […]}`.
 *
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {{fields: Record<string, unknown>, name: string, tags: Record<string, unknown>, timestamp: number|bigint}} Metric
 */

const KEYS = ['fields', 'name', 'tags', 'timestamp']

/** Whether a parsed JSON payload is Telegraf's. @param {unknown} payload */
export function isTelegraf (payload) {
  return metricsOf(payload).length > 0
}

/**
 * A row for each metric; its name is the source, its tags are columns. The unit of its time, `json_timestamp_units`, shows in its size.
 * @param {unknown} payload @param {Uint8Array} bytes  from which it was read
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeTelegraf (payload, bytes) {
  const metrics = metricsOf(payload)
  const refused = new Refusals()
  if (metrics.length > MAX_ROWS) {
    refused.add(-1, describe(tooLarge(`it has ${metrics.length} metrics, over ${MAX_ROWS}`)), bytes)
    return { batches: [], refused: refused.list(bytes) }
  }
  const gatherer = new Gatherer({ hasOneNumber: true })
  for (let index = 0; index < metrics.length; index++) {
    const metric = metrics[index]
    const reason = take(gatherer, metric, (why, value) => refused.add(index, why, value))
    if (reason && !refused.addRow(index, reason, metric, metrics.length - index - 1)) break
  }
  const bySource = Map.groupBy(gatherer.batches(), ({ source }) => source)
  const batches = Array.from(bySource.values()).flatMap(own => {
    return together(own.map(batch => ({ batch: withTagColumns(batch), indices: [] }))).map(({ batch }) => batch)
  })
  return { batches, refused: refused.list(bytes) }
}

/**
 * @param {Gatherer} gatherer @param {Metric} metric @param {(reason: string, value: unknown) => void} refuse
 * @returns {string|null} why it was refused
 */
function take (gatherer, { fields, name, tags, timestamp }, refuse) {
  let isReported = false
  const cells = cellsOf(Object.keys(fields), fields, (reason, value) => {
    isReported = true
    refuse(reason, value)
  })
  if (cells.length > MAX_FIELDS) return TOO_MANY_FIELDS
  if (cells.length === 0) return isReported ? null : 'it holds no values'
  try {
    return gatherer.take(name, tags, timeOf(timestamp), cells)
  } catch (error) {
    return describe(error)
  }
}

/** The same with a column for each tag, as the format has it, however many have the same. @param {Batch} batch */
function withTagColumns (batch) {
  const tags = Object.entries(batch.tags).map(([name, text]) => [name, { values: new Array(batch.rows).fill(text), valid: null }])
  return new Batch({ ...batch, tags: Object.fromEntries(tags) })
}

/** @param {number|bigint} time */
function timeOf (time) {
  const unit = unitOf(time)
  return parseTime(typeof time === 'bigint' ? time * NANOSECONDS_PER[unit] : time, unit)
}

/** No time from 1971 to 2262 has as large a number in two units. @param {number|bigint} time */
function unitOf (time) {
  if (time < 1e10) return 's'
  if (time < 1e13) return 'ms'
  return time < 1e16 ? 'us' : 'ns'
}

/** @param {any} payload @returns {Metric[]} none where it is something else */
function metricsOf (payload) {
  if (isMetric(payload)) return [payload]
  const metrics = isPlainObject(payload) && Object.keys(payload).length === 1 ? payload.metrics : null
  return Array.isArray(metrics) && metrics.every(isMetric) ? metrics : []
}

/** @param {unknown} metric @returns {metric is Metric} */
function isMetric (metric) {
  if (!isPlainObject(metric) || Object.keys(metric).length !== KEYS.length || !KEYS.every(key => Object.hasOwn(metric, key))) return false
  const { fields, name, tags, timestamp } = metric
  return isPlainObject(fields) && isPlainObject(tags) && typeof name === 'string' && ['number', 'bigint'].includes(typeof timestamp)
}
