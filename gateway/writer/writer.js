import { identityKey } from '../batch/batch.js'
import { SluiceError } from '../base/errors.js'
import { batchBytes } from '../batch/batch-bytes.js'
import { withDefaults } from '../base/defaults.js'
import { QuietLog } from '../base/log.js'
import { shareFull } from '../dead-letters/queue.js'
import { partsOf, together } from './parts.js'
import { Retry, released } from './retry.js'
import { schema } from './schema.js'
import { storeGroup } from './store.js'
import { TimedSink } from './timed-sink.js'

export { schema }

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 *
 * @typedef {object} Options  see `schema`
 * @property {number} batchRows
 * @property {number} batchBytes
 * @property {number} maxAgeMs
 * @property {number} inFlight
 * @property {number} maxPendingBytes
 * @property {number} drainMs
 *
 * @typedef {object} WriterMeter  what the writer counts: `gateway/stats/meter.js`
 * @property {number} duplicates  rows
 * @property {number} deadLetters  rows
 * @property {number} retries
 * @property {number} errors  groups refused for good, in part or whole
 * @property {(batch: Batch, size: {bytes: number}) => void} record  called with what has been committed of a batch
 * @property {(outcome: import('../stats/write-times.js').Outcome, microseconds: number) => void} recordWrite  called after each transaction
 *
 * @typedef {object} Setup
 * @property {import('../databases/sink.js').Sink} sink  open; the writer does not close it
 * @property {(error: unknown) => boolean} isTransient
 * @property {import('../dead-letters/queue.js').DeadLetterQueue} deadLetters  closed with the writer
 * @property {Partial<Options>} [options]
 * @property {WriterMeter} [meter]
 * @property {import('../base/log.js').Log} [log]
 * @property {import('./retry.js').Clock} [clock]
 *
 * @typedef {{outcome: 'stored'|'duplicate'|'clash', deadRows: number}} Written  `clash`: another batch has taken its identity
 *
 * @typedef {object} Entry
 * @property {Batch} batch
 * @property {number} bytes
 * @property {number} arrivedMs
 * @property {Promise<Written>} written
 * @property {(written: Written) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/** How long a closing writer waits for steps that were aborted: a database may have committed just now. */
const ABORT_GRACE_MS = 1000

/** Nothing having gone for so many ages, what comes goes with what comes in the same moment. */
const SELDOM_AGES = 2
const SOON_MS = 1

/** @type {import('./retry.js').Clock} */
const systemClock = { now: () => performance.now(), setTimeout, clearTimeout }

/** @param {Setup} setup */
export function createWriter (setup) {
  return new Writer(setup)
}

/**
 * Gathers batches into groups and stores each group in one transaction, several at once, and again until the database has committed it. A
 * batch that is larger than a group is stored in parts, unless it has an identity.
 * What the database refuses for good becomes a dead letter; the rest of its group is stored.
 */
export class Writer {
  /** @type {Options} */
  #options
  #tools
  #clock
  #retry

  /** @type {Entry[]} in order of arrival */
  #waiting = []
  #waitingRows = 0
  #waitingBytes = 0
  /** @type {Set<Entry>} waiting or in flight */
  #pending = new Set()
  #pendingRows = 0
  #pendingBytes = 0
  /** @type {Map<string, Entry>} those of the pending that have an identity */
  #byIdentity = new Map()
  #inFlight = 0
  /**
   * The event loop turns between two groups: a database in this process never waits, and would keep everything else from its turn.
   * @type {Promise<void>}
   */
  #turn = Promise.resolve()
  /** how many of those waiting go without waiting for more */
  #flushed = 0
  /** @type {PromiseWithResolvers<void>|null} */
  #room = null
  /** @type {any} fires when, or before, the first of those waiting has reached its age */
  #ageTimer = null
  /** When the last group went, or the writer began. */
  #sentMs
  /** @type {Promise<void>|null} */
  #closing = null

  /** @param {Setup} setup */
  constructor ({ sink, isTransient, deadLetters, options = {}, meter = uncounted(), log, clock = systemClock }) {
    const quietLog = new QuietLog(log, clock.now)
    this.#options = /** @type {any} */ (withDefaults(schema, options))
    this.#clock = clock
    this.#sentMs = clock.now()
    this.#retry = new Retry({ isTransient, meter, log: quietLog, clock })
    const timed = new TimedSink(sink, { isTransient, meter, clock })
    this.#tools = { sink: timed, retry: this.#retry, deadLetters, meter, log: quietLog }
  }

  /**
   * @param {Batch} batch
   * @param {{isWhole?: boolean}} [options]  `isWhole`: it is not stored in parts
   * @returns {Promise<Written>} once the database has committed it, or had done so before; `deadRows` of it are dead letters.
   *   Rejects with SLUICE_WRITER_FULL at once when too much is pending, with SLUICE_WRITER_RELEASED when the writer closes before: write it
   *   again elsewhere. With SLUICE_DEAD_LETTERS_SHARE when some of it is refused, and its source has had its share of the dead letters
   */
  write (batch, { isWhole = false } = {}) {
    if (this.#closing) return Promise.reject(released())
    const key = batch.identity && pendingKey(batch.identity)
    const earlier = key !== null && this.#byIdentity.get(key)
    if (earlier) return this.#follow(earlier)
    const bytes = batchBytes(batch)
    const { maxPendingBytes, batchRows } = this.#options
    if (this.#pending.size > 0 && this.#pendingBytes + bytes > maxPendingBytes) return Promise.reject(full(maxPendingBytes))
    if (batch.identity || isWhole || batch.rows <= batchRows) return this.#add(batch, bytes, key)
    return together(partsOf(batch, batchRows).map(part => this.#add(part, batchBytes(part), null)))
  }

  /** @param {Batch} batch @param {number} bytes @param {string|null} key @returns {Promise<Written>} */
  #add (batch, bytes, key) {
    const { promise: written, resolve, reject } = Promise.withResolvers()
    const entry = { batch, bytes, arrivedMs: this.#clock.now(), written, resolve, reject }
    if (key !== null) this.#byIdentity.set(key, entry)
    this.#pending.add(entry)
    this.#pendingRows += batch.rows
    this.#pendingBytes += bytes
    this.#wait(entry)
    this.#dispatch()
    return written
  }

  /** @param {Entry} entry */
  #wait (entry) {
    this.#waiting.push(entry)
    this.#waitingRows += entry.batch.rows
    this.#waitingBytes += entry.bytes
  }

  /**
   * @returns {{pendingRows: number, pendingBytes: number, inFlight: number, retryingSinceMs: number|null, lastError: string|null}}
   *   `retryingSinceMs` in milliseconds since 1970
   */
  state () {
    return {
      pendingRows: this.#pendingRows,
      pendingBytes: this.#pendingBytes,
      inFlight: this.#inFlight,
      retryingSinceMs: this.#retry.sinceMs,
      lastError: this.#retry.lastError
    }
  }

  /** How long the oldest batch that is pending has been, beyond the time in which others may join it. */
  get waitingMs () {
    const [oldest] = this.#pending
    return oldest ? Math.max(0, this.#clock.now() - oldest.arrivedMs - this.#options.maxAgeMs) : 0
  }

  /** Resolves when something that is pending has been stored or released: then there may be room again. @returns {Promise<void>} */
  get room () {
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  /** Sends what is waiting. @returns {Promise<void>} once all that is pending now is stored or released */
  async flush () {
    this.#flushed = this.#waiting.length
    this.#dispatch()
    await Promise.allSettled(Array.from(this.#pending, ({ written }) => written))
  }

  /**
   * Accepts no more, and stores what is pending within the deadline; the rest is released.
   * @param {{deadlineMs?: number}} [options]
   * @returns {Promise<void>} once nothing is pending; never rejects for what could not be stored
   */
  close ({ deadlineMs = this.#options.drainMs } = {}) {
    this.#closing ??= this.#drain(deadlineMs)
    return this.#closing
  }

  /** @param {number} deadlineMs */
  async #drain (deadlineMs) {
    const drained = this.flush()
    this.#retry.tryNow()
    await this.#within(deadlineMs, drained)
    this.#retry.release()
    this.#clock.clearTimeout(this.#ageTimer)
    for (const entry of this.#take(this.#waiting.length)) this.#reject(entry, released())
    await this.#within(ABORT_GRACE_MS, drained)
    for (const entry of this.#pending) this.#reject(entry, released())
    await this.#tools.deadLetters.close()
  }

  /** @param {number} ms @param {Promise<void>} work */
  async #within (ms, work) {
    let timer
    const passed = new Promise(resolve => { timer = this.#clock.setTimeout(() => resolve(undefined), ms) })
    await Promise.race([work, passed])
    this.#clock.clearTimeout(timer)
  }

  /** Starts as many groups as may be in flight; what waits longer than that gathers into larger groups. */
  #dispatch () {
    while (this.#inFlight < this.#options.inFlight && this.#isDue()) this.#send(this.#take(this.#groupLength()))
    this.#setAgeTimer()
  }

  #isDue () {
    const { batchRows, batchBytes: bytes } = this.#options
    return this.#waiting.length > 0 && (
      this.#flushed > 0 ||
      this.#waitingRows >= batchRows ||
      this.#waitingBytes >= bytes ||
      this.#clock.now() >= this.#dueMs)
  }

  /** When the first of those waiting has waited long enough. What comes seldom waits for nothing: little would come to go with it. */
  get #dueMs () {
    const { maxAgeMs } = this.#options
    const { arrivedMs } = this.#waiting[0]
    const isSeldom = arrivedMs - this.#sentMs > SELDOM_AGES * maxAgeMs
    return arrivedMs + (isSeldom ? SOON_MS : maxAgeMs)
  }

  /** How many of those waiting form the next group: as many as are within the limits, and at least one. */
  #groupLength () {
    const { batchRows, batchBytes: maxBytes } = this.#options
    let rows = 0
    let bytes = 0
    const end = this.#waiting.findIndex((entry, i) => {
      rows += entry.batch.rows
      bytes += entry.bytes
      return i > 0 && (rows > batchRows || bytes > maxBytes)
    })
    return end === -1 ? this.#waiting.length : end
  }

  /** @param {number} count */
  #take (count) {
    const entries = this.#waiting.splice(0, count)
    for (const { batch, bytes } of entries) {
      this.#waitingRows -= batch.rows
      this.#waitingBytes -= bytes
    }
    this.#flushed = Math.max(0, this.#flushed - count)
    return entries
  }

  /** One timer for all: when it fires too early, because another batch is now the first, it is set again. */
  #setAgeTimer () {
    if (this.#ageTimer !== null || this.#waiting.length === 0 || this.#inFlight >= this.#options.inFlight) return
    this.#ageTimer = this.#clock.setTimeout(() => {
      this.#ageTimer = null
      this.#dispatch()
    }, Math.max(1, Math.ceil(this.#dueMs - this.#clock.now())))
  }

  /** @param {Entry[]} entries */
  async #send (entries) {
    this.#inFlight++
    this.#sentMs = this.#clock.now()
    await (this.#turn = this.#turn.then(() => new Promise(resolve => { setImmediate(resolve) })))
    try {
      const results = await storeGroup(entries.map(({ batch }) => batch), this.#tools)
      results.forEach((result, i) => this.#settle(entries[i], result))
    } catch (error) {
      for (const entry of entries) this.#reject(entry, error)
    } finally {
      this.#inFlight--
      this.#dispatch()
    }
  }

  /** @param {Entry} entry @param {Awaited<ReturnType<typeof storeGroup>>[number]} result */
  #settle (entry, { part, outcome }) {
    const { meter } = this.#tools
    if (outcome === 'later') {
      this.#wait(entry)
      return
    }
    if (outcome === 'unkept') {
      this.#reject(entry, shareFull(entry.batch.source))
      return
    }
    this.#forget(entry)
    if (outcome !== 'stored') {
      if (outcome === 'duplicate') meter.duplicates += entry.batch.rows
      entry.resolve({ outcome, deadRows: 0 })
      return
    }
    meter.deadLetters += part.dead
    if (part.toWrite) meter.record(part.toWrite, { bytes: entry.bytes })
    entry.resolve({ outcome: 'stored', deadRows: part.dead })
  }

  /** @param {Entry} entry @param {unknown} error */
  #reject (entry, error) {
    this.#forget(entry)
    entry.reject(error)
  }

  /** @param {Entry} entry */
  #forget (entry) {
    if (!this.#pending.delete(entry)) return
    this.#pendingRows -= entry.batch.rows
    this.#pendingBytes -= entry.bytes
    if (entry.batch.identity) this.#byIdentity.delete(pendingKey(entry.batch.identity))
    this.#room?.resolve()
    this.#room = null
  }

  /** A batch that is redelivered while it is pending shares its outcome. @param {Entry} earlier @returns {Promise<Written>} */
  async #follow (earlier) {
    await earlier.written
    this.#tools.meter.duplicates += earlier.batch.rows
    return { outcome: 'duplicate', deadRows: 0 }
  }
}

/** A batch that has taken another's identity is not that one: the database tells. @param {import('../batch/batch.js').Identity} identity */
function pendingKey (identity) {
  return `${identityKey(identity)}/${identity.hash}`
}

/** @returns {WriterMeter} */
function uncounted () {
  return { duplicates: 0, deadLetters: 0, retries: 0, errors: 0, record () {}, recordWrite () {} }
}

/** @param {number} maxPendingBytes */
function full (maxPendingBytes) {
  return new SluiceError('SLUICE_WRITER_FULL', `The writer holds ${maxPendingBytes} bytes that the database has not accepted yet.`, {
    fix: 'Write it again later, or raise the memory limit.'
  })
}
