import { QUALITY_FIELD } from '../batch/quality.js'
import { badProperty, msOf, unitProperty } from './codec.js'
import { DATATYPE_OF, WRITE } from './datatypes.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {import('./codec.js').MetricInit} MetricInit
 *
 * @typedef {object} KnownMetric
 * @property {bigint} alias
 * @property {FieldType} type
 * @property {string|undefined} unit
 * @property {MetricInit|null} last  the metric with its last value
 *
 * @typedef {{metrics: MetricInit[], rows: number}} Portion  of a batch: a payload's metrics, and how many rows they hold
 */

/** A payload ends with the row in which it reaches this size. */
const PAYLOAD_BYTES = 32 * 1024
/** Of alias, time, kind and lengths. */
const BYTES_PER_METRIC = 24

/**
 * One device of an edge node: a metric for each field of its batches, with its last value. A missing value with a quality is sent as null
 * and bad; one without was simply not read, and is not sent. The row's quality text is a metric like others: sent where there is one, and
 * as null in the first row without.
 */
export class EdgeDevice {
  /** Whether its latest birth names all its metrics. */
  isBorn = false
  /** @type {Map<string, KnownMetric>} */
  #known = new Map()
  #takeAlias
  #showsQuality = false

  /** @param {() => bigint|null} takeAlias  unique within the edge node; null where there are no more */
  constructor (takeAlias) {
    this.#takeAlias = takeAlias
  }

  get size () { return this.#known.size }

  /**
   * Creates metrics for fields that are new, or whose type or unit has changed.
   * @param {Batch} batch
   * @returns {number} fields without an alias: they are not sent
   */
  learn ({ fields }) {
    let left = 0
    for (const { name, type, unit } of fields) {
      const known = this.#known.get(name)
      if (known?.type === type && known.unit === unit) continue
      const alias = known?.alias ?? this.#takeAlias()
      if (alias === null) {
        left++
      } else {
        this.#known.set(name, { alias, type, unit, last: null })
        this.isBorn = false
      }
    }
    return left
  }

  /** Keeps the last values up to a row, for births. @param {Batch} batch @param {number} lastRow */
  remember (batch, lastRow) {
    const reasonAt = reasonsOf(batch)
    batch.fields.forEach(({ name }, field) => {
      const known = this.#known.get(name)
      if (!known || name === QUALITY_FIELD) return
      for (let row = lastRow, metric = null; row >= 0 && !metric; row--) {
        metric = metricOf(known, batch, field, row, reasonAt(row))
        if (metric) known.last = metric
      }
    })
    const quality = this.#known.get(QUALITY_FIELD)
    if (quality) quality.last = qualityMetric(quality, batch.time[lastRow], reasonAt(lastRow))
  }

  /** All its metrics, by name, with their last values. @param {bigint} ns  the time of those without a value yet @returns {MetricInit[]} */
  birth (ns) {
    return Array.from(this.#known, ([name, { alias, type, unit, last }]) => {
      const { timestamp, isNull, value, properties } = last ?? { timestamp: msOf(ns), isNull: true }
      return { name, alias, timestamp, datatype: DATATYPE_OF[type], isNull, value, properties: properties ?? unitProperty(unit) }
    })
  }

  /**
   * The rows as the metrics of payloads.
   * @param {Batch} batch @param {{from?: number, isHistorical?: boolean}} [options]  `from`: the first row
   * @returns {Generator<Portion>}
   */
  * portions (batch, { from = 0, isHistorical } = {}) {
    const reasonAt = reasonsOf(batch)
    const columns = this.#columnsOf(batch)
    const quality = this.#known.get(QUALITY_FIELD)
    /** @type {Portion} */
    let portion = { metrics: [], rows: 0 }
    let bytes = 0
    for (let row = from; row < batch.rows; row++) {
      const reason = reasonAt(row)
      for (const { known, field } of columns) {
        const metric = metricOf(known, batch, field, row, reason)
        if (!metric) continue
        if (isHistorical) metric.isHistorical = true
        portion.metrics.push(metric)
        bytes += BYTES_PER_METRIC + lengthOf(metric)
      }
      if (quality && (reason !== undefined || (this.#showsQuality && !isHistorical))) {
        const metric = qualityMetric(quality, batch.time[row], reason)
        if (isHistorical) metric.isHistorical = true
        portion.metrics.push(metric)
        bytes += BYTES_PER_METRIC + (reason?.length ?? 0)
      }
      if (!isHistorical) this.#showsQuality = reason !== undefined
      portion.rows++
      if (bytes < PAYLOAD_BYTES) continue
      yield portion
      portion = { metrics: [], rows: 0 }
      bytes = 0
    }
    if (portion.metrics.length > 0) yield portion
  }

  /** @param {Batch} batch */
  #columnsOf ({ fields }) {
    return fields.flatMap(({ name }, field) => {
      const known = this.#known.get(name)
      return known && name !== QUALITY_FIELD ? [{ known, field }] : []
    })
  }
}

/** Why values of a row are missing. @param {Batch} batch @returns {(row: number) => string|undefined} */
function reasonsOf (batch) {
  const field = batch.fields.findIndex(({ name, type }) => name === QUALITY_FIELD && type === 'string')
  return field < 0 ? () => undefined : row => /** @type {string|undefined} */ (batch.value(field, row))
}

/**
 * @param {KnownMetric} known
 * @param {Batch} batch
 * @param {number} field
 * @param {number} row
 * @param {string|undefined} reason
 * @returns {MetricInit|null}
 */
function metricOf ({ alias, type }, batch, field, row, reason) {
  const value = batch.value(field, row)
  if (value === undefined && reason === undefined) return null
  const timestamp = msOf(batch.time[row])
  if (value === undefined) return { alias, timestamp, isNull: true, properties: badProperty() }
  return { alias, timestamp, value: WRITE[type](value) }
}

/** @param {KnownMetric} known @param {bigint} ns @param {string|undefined} reason @returns {MetricInit} */
function qualityMetric ({ alias }, ns, reason) {
  return { alias, timestamp: msOf(ns), ...(reason === undefined ? { isNull: true } : { value: WRITE.string(reason) }) }
}

/** @param {MetricInit} metric */
function lengthOf ({ value }) {
  return value?.case === 'stringValue' || value?.case === 'bytesValue' ? value.value.length : 0
}
