import { Latency } from './latency.js'
import { WriteTimes } from './write-times.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {'source'|'stage'|'sink'} Stage  `source` sends rows, `stage` has accepted them into its spool, `sink` has stored them
 * @typedef {typeof COUNTERS[number]} Counter
 * @typedef {Record<Counter, number>} Totals
 * @typedef {{latency: Latency, writes: WriteTimes}} Times
 * @typedef {object} Listener  to the times, and to the batches themselves
 * @property {Pick<Latency, 'record'>} latency
 * @property {Pick<WriteTimes, 'record'>} writes
 * @property {(batch: Batch) => void} [batch]
 */

/** What a meter counts: rows, except `batches`, `values`, `bytes`, `retries`, `errors`, `overdue` and `parked`. */
export const COUNTERS = /** @type {const} */ ([
  'batches', 'rows', 'values', 'bytes',
  'duplicates', 'deadLetters', 'lost', 'dropped', 'missed', 'late', 'expired',
  'retries', 'errors', 'overdue', 'parked'
])

/** Rows of a batch whose age is measured; each represents those up to the next. */
const SAMPLES = 8

/** A batch of so many rows is small enough to be kept, so that the last value of a source that sends seldom is known. */
const KEPT_ROWS = 16

/**
 * What has passed one source, stage or sink since the process started. Plain numbers, increased by whoever counts something.
 * @implements {Totals}
 */
export class Meter {
  batches = 0
  rows = 0
  values = 0
  /** as sent or stored, where known */
  bytes = 0
  /** rows a sink refused because it had stored them before */
  duplicates = 0
  /** rows a database refuses for good, kept in the dead letter queue */
  deadLetters = 0
  /** produced rows that no spool holds any more and this sink has not stored */
  lost = 0
  /** rows given up by choice: a full spool, a paused source */
  dropped = 0
  /** samples a source could not read in time */
  missed = 0
  /** samples read, but late */
  late = 0
  /** stored rows that a sink has removed, as it keeps none so old */
  expired = 0
  /** repeated writes */
  retries = 0
  errors = 0
  /** deliveries that a flow did not settle in time */
  overdue = 0
  /** deliveries given up until the next start, after being emitted again */
  parked = 0

  /** of a source: the ids of its nodes that run. What was stopped, or has ended, is not expected to send. @type {Set<string>} */
  running = new Set()
  /** when a row has passed last; 0 when none has */
  lastAtNs = 0n
  latency = new Latency()
  /** of a sink: those that it has got, and that are not stored yet */
  pendingRows = () => 0
  /** of a sink */
  writes = new WriteTimes()
  /** @type {Set<Listener>} the same, one for each reader, since it last read */
  intervals = new Set()
  /** @type {Map<string, number>} rows recorded, by the source they come from */
  rowsBySource = new Map()
  /** of a source or stage: the last, where it is small, by the source of its rows. @type {Map<string, Batch>} */
  lastBatches = new Map()
  #nowNs

  /**
   * @param {Stage} stage
   * @param {string} id
   * @param {() => bigint} nowNs
   * @param {{isOwn?: boolean}} [about]  `isOwn`: of a stage's node, by its id, and of no source
   */
  constructor (stage, id, nowNs, { isOwn = false } = {}) {
    this.stage = stage
    this.id = id
    this.isOwn = isOwn
    /** what it is called in reports: a label, which may change */
    this.name = id
    this.#nowNs = nowNs
  }

  /**
   * Counts a batch that has passed, and how old its rows are now. Each row whose age is measured is the oldest of those it represents, so
   * the latency shown is never better than the real one.
   * @param {Batch} batch
   * @param {{bytes?: number}} [size]
   */
  record (batch, { bytes = 0 } = {}) {
    const { rows, source, time } = batch
    this.batches++
    this.rows += rows
    this.values += batch.values
    this.bytes += bytes
    this.rowsBySource.set(source, (this.rowsBySource.get(source) ?? 0) + rows)
    if (rows === 0) return
    if (rows > KEPT_ROWS) this.lastBatches.delete(source)
    else if (this.stage !== 'sink') this.lastBatches.set(source, batch)
    const nowNs = this.lastAtNs = this.#nowNs()
    const samples = Math.min(rows, SAMPLES)
    for (let i = 0, row = 0; i < samples; i++) {
      const next = Math.floor((i + 1) * rows / samples)
      ages[i] = Number(nowNs - time[row]) / 1000
      counts[i] = next - row
      row = next
    }
    listen(this.latency, samples)
    for (const each of this.intervals) {
      listen(each.latency, samples)
      each.batch?.(batch)
    }
  }

  /** Counts a batch that a database was asked to write. @param {import('./write-times.js').Outcome} outcome @param {number} microseconds */
  recordWrite (outcome, microseconds) {
    this.writes.record(outcome, microseconds)
    for (const { writes } of this.intervals) writes.record(outcome, microseconds)
  }

  /** @returns {Totals} */
  get totals () {
    const totals = /** @type {Totals} */ ({})
    for (const counter of COUNTERS) totals[counter] = this[counter]
    return totals
  }
}

/** What is measured of the batch under way: microseconds, and of how many rows. */
const ages = new Float64Array(SAMPLES)
const counts = new Float64Array(SAMPLES)

/** @param {Pick<Latency, 'record'>} latency @param {number} samples */
function listen (latency, samples) {
  for (let i = 0; i < samples; i++) latency.record(ages[i], counts[i])
}
