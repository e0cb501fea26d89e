import { describe } from '../../gateway/base/errors.js'
import { retryWhile } from '../../gateway/base/backoff.js'
import { SET_BACK } from '../../gateway/databases/set-back.js'

/**
 * @typedef {import('./contract.js').SinkHandle} SinkHandle
 * @typedef {import('../../gateway/databases/sink.js').Committed} Committed
 *
 * @typedef {object} Running
 * @property {SinkHandle} handle
 * @property {boolean} isReady  it has been read
 * @property {boolean} isReading
 * @property {boolean} isWanted  again, once the present reading has ended
 * @property {number} dueMs  not before
 * @property {number} tookMs  the last one
 * @property {number} beganMs  the last one that has ended
 * @property {number} wantedMs  what began earlier says nothing of now
 */

/**
 * A reading that takes long is made less often: at most this share of the time is spent on it. Only one that does so again: the first opens
 * the database, while the process has much else to do, and any may meet a lock, a broken connection or a process that was stopped.
 */
const MAX_SHARE = 0.05

/** Of the readings that this process has begun. */
let count = 0

/**
 * The wired sinks that run, and the readings of their databases: when a sink comes up, when it is asked for, and again now and then while
 * something has been committed that no reading has seen; and a last time before it goes. A database that does not answer is asked again,
 * without end.
 */
export class Readings {
  /** @type {Map<string, Running>} */
  #running = new Map()
  /** @type {Set<string>} of the sinks that are waited for */
  #ids = new Set()
  /** @type {Set<string>} of those and the disabled ones */
  #wired = new Set()
  /** Those that have gone, and were read. @type {Set<string>} */
  #gone = new Set()
  /** Of the reading that began last. */
  number = count
  /** @type {PromiseWithResolvers<unknown>} resolves when a sink becomes ready or is no longer waited for, or on closing */
  #changed = Promise.withResolvers()
  #closed = false
  #options

  /**
   * @param {object} options
   * @param {import('./contract.js').Sinks} options.registry
   * @param {number} options.intervalMs
   * @param {(id: string, committed: Committed, reading: {number: number, beganMs: number}) => void} options.onRead  what it has stored,
   *   before it counts as ready
   * @param {() => void} options.onChange  one has become ready, or is gone
   * @param {import('../../gateway/base/log.js').Log} options.log
   * @param {() => number} [options.nowMs]  monotonic
   */
  constructor (options) {
    this.#options = { nowMs: () => performance.now(), ...options }
    const { registry } = options
    registry.on('added', this.#add)
    registry.on('removed', this.#remove)
    registry.on('leaving', this.#readLast)
    registry.on('setBack', this.#onSetBack)
  }

  /** Which sinks are waited for, from now on, and which only wired. @param {string[]} ids @param {string[]} [disabled] */
  wire (ids, disabled = []) {
    this.#ids = new Set(ids)
    this.#wired = new Set([...ids, ...disabled])
    for (const id of this.#running.keys()) if (!this.#ids.has(id)) this.#running.delete(id)
    for (const id of this.#gone) if (!this.#wired.has(id)) this.#gone.delete(id)
    for (const id of this.#wired) {
      const handle = this.#options.registry.get(id)
      if (!handle) this.#readLast(id)
      else if (!this.#running.has(id)) this.#add(handle)
    }
    this.#announce()
  }

  get areAll () { return this.missing.length === 0 }

  /** @returns {string[]} */
  get missing () { return [...this.#ids].filter(id => !this.has(id)) }

  /** @param {string} id */
  has (id) { return this.#running.get(id)?.isReady ?? false }

  /** Whether the last reading says what there is now: none has been asked for since. @param {string} id */
  isCurrent (id) {
    const { isReady = false, beganMs = 0, wantedMs = 0 } = this.#running.get(id) ?? {}
    return (isReady && beganMs >= wantedMs) || this.#gone.has(id)
  }

  /** Those that are ready. */
  * [Symbol.iterator] () { for (const { handle, isReady } of this.#running.values()) if (isReady) yield handle }

  /** Commit records below what the spools, or topics, may still have are merged. @param {Parameters<SinkHandle['compact']>[0]} heads */
  compact (heads) {
    for (const handle of this) {
      handle.compact(heads).catch(error => {
        this.#options.log.warn(`Sink "${handle.name}" could not compact its commit records: ${describe(error)}`)
      })
    }
  }

  /** Reads a database, from now on: what is being read now began before. @param {string} id */
  read = id => {
    const running = this.#running.get(id)
    if (!running) return
    running.wantedMs = this.#options.nowMs()
    if (running.isReading) running.isWanted = true
    else this.#read(id, running)
  }

  /** Every sink, before any counts as ready again. */
  readAnew () {
    for (const running of this.#running.values()) running.isReady = false
    this.readAll()
  }

  /** Every sink, as after a reconnect. */
  readAll () { for (const id of this.#running.keys()) this.read(id) }

  /** Something was committed that no reading has seen. @param {string} id */
  readSoon (id) {
    const running = this.#running.get(id)
    if (running && !running.isReading && this.#options.nowMs() >= running.dueMs) this.#read(id, running)
  }

  /**
   * Stores a commit record of no rows. The batch's rows are stored, so it is tried until the sink is there and accepts it: to emit the
   * batch again would store them twice. Unless the database has lost them.
   * @param {string} id
   * @param {import('../../gateway/batch/batch.js').Batch} record
   * @returns {Promise<boolean|void>} never rejects; resolves also when the sink is no longer wired, or on closing. False: the rows are lost
   */
  mark (id, record) {
    return retryWhile(() => !this.#closed && this.#ids.has(id), async () => {
      while (!this.#closed && this.#ids.has(id) && !this.has(id)) await this.#changed.promise
      try {
        await this.#running.get(id)?.handle.write(record)
        return true
      } catch (error) {
        if (/** @type {any} */ (error).code !== SET_BACK) throw error
        return false
      }
    }, error => this.#options.log.warn(`Sink "${this.labelOf(id)}" could not record that it has dealt with a batch: ${describe(error)}`))
  }

  /** @param {string} id */
  labelOf (id) { return this.#running.get(id)?.handle.name ?? id }

  close () {
    this.#closed = true
    const { registry } = this.#options
    registry.off('added', this.#add)
    registry.off('removed', this.#remove)
    registry.off('leaving', this.#readLast)
    registry.off('setBack', this.#onSetBack)
    this.#announce()
  }

  /** A sink runs, or runs again. @param {SinkHandle} handle */
  #add = handle => {
    if (!this.#ids.has(handle.id)) return
    this.#gone.delete(handle.id)
    const running = { handle, isReady: false, isReading: false, isWanted: false, dueMs: 0, tookMs: 0, beganMs: 0, wantedMs: 0 }
    this.#running.set(handle.id, running)
    this.#read(handle.id, running)
  }

  /** What it may have lost goes into the flow again. @param {string} id */
  #onSetBack = id => {
    this.read(id)
    this.#options.onChange()
  }

  /** @param {string} id */
  #remove = id => {
    if (this.#running.delete(id)) this.#options.onChange()
  }

  /** What a sink had stored when it went: nobody has read it later, nor written to it. @param {string} id */
  #readLast = async id => {
    const reading = this.#options.registry.lastReading(id)
    if (!reading || !this.#wired.has(id) || this.#gone.has(id)) return
    const number = this.number = ++count
    const committed = await reading.catch(() => null)
    if (!committed || this.#closed || !this.#wired.has(id) || this.#running.has(id)) return
    this.#gone.add(id)
    this.#options.onRead(id, committed, { number, beganMs: Infinity })
  }

  /** @param {string} id @param {Running} running */
  async #read (id, running) {
    const { onRead, log, intervalMs, nowMs } = this.#options
    const isCurrent = () => !this.#closed && this.#running.get(id) === running
    let logged = ''
    running.isReading = true
    do {
      running.isWanted = false
      await retryWhile(isCurrent, async () => {
        const beganMs = nowMs()
        const number = this.number = ++count
        const committed = await running.handle.committed()
        if (!isCurrent()) return
        const endedMs = nowMs()
        const tookMs = endedMs - beganMs
        running.dueMs = endedMs + Math.max(intervalMs, Math.min(tookMs, running.tookMs) / MAX_SHARE)
        running.tookMs = tookMs
        running.beganMs = beganMs
        onRead(id, committed, { number, beganMs })
        if (!running.isReady && beganMs >= running.wantedMs) {
          running.isReady = true
          this.#announce()
        }
      }, error => {
        const problem = describe(error)
        if (problem !== logged) log.warn(`Sink "${this.labelOf(id)}" cannot report what it has stored: ${problem}`)
        logged = problem
      })
    } while (running.isWanted && isCurrent())
    running.isReading = false
  }

  #announce () {
    this.#changed.resolve(undefined)
    this.#changed = Promise.withResolvers()
    if (!this.#closed) this.#options.onChange()
  }
}
