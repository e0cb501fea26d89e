import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { replaceFile } from '../../gateway/base/files.js'
import { batchBytes } from '../../gateway/batch/batch-bytes.js'
import { Budget } from './budget.js'
import { RequiredSinks } from './required-sinks.js'
import { Recent } from './recent.js'
import { Segments } from './segments.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {'batch'|'interval'|'system'} FsyncPolicy
 *   `batch`: accepted means on the disk, a power cut loses nothing accepted. `interval`: a power cut loses at most the last interval.
 *   `system`: a power cut loses what the operating system had not written. Under all three, killing the process loses nothing accepted.
 *
 * @typedef {object} SpoolOptions
 * @property {string} folder  of this source's segments
 * @property {string} gateway
 * @property {string} source
 * @property {(batch: Batch) => Uint8Array} encode  of a batch with its identity
 * @property {Budget} [budget]  shared with other spools; default 1 GiB of its own
 * @property {'block'|'drop-oldest'} [whenFull]
 * @property {FsyncPolicy} [fsync]
 * @property {number} [fsyncIntervalMs]
 * @property {number} [segmentBytes]
 * @property {number} [waitingBytes]  batches waiting for room in memory; beyond, they are refused
 * @property {string} [ledger]  a folder that keeps every segment ever written, to check against; nothing removes them
 * @property {import('../../gateway/base/log.js').Log} [log]
 * @property {import('./segment.js').WriteAt} [write]  for tests that need a disk to fail
 */

/**
 * @typedef {import('./segments.js').Place} Place
 * @typedef {{batch: Batch, bytes: number, resolve: (identity: Identity) => void, reject: (error: Error) => void}} Waiting
 * @typedef {import('./segment.js').Record & {resolve: () => void, reject: (error: Error) => void}} Pending
 */

const WRITE_BYTES = 2 ** 22
/** Brokers refuse what is much longer, and it would be sent again and again. */
const MAX_PAYLOAD_BYTES = 2 ** 24
/** How long until a full or failing disk is tried again. */
const RETRY_MS = 1000

/**
 * What one source has produced and not every required sink has stored, on disk. A batch is *produced* once `append` resolves.
 *
 * Events: `accepted` (there are so many bytes more to read), `full` and `room` (it blocks, it goes on), `dropped` ({batches, rows}).
 */
export class Spool extends EventEmitter {
  #segments
  /** @type {Waiting[]} */
  #waiting = []
  #waitingBytes = 0
  /** @type {Promise<void>|null} */
  #pumping = null
  #closing = false
  #epoch = ''
  #nextSeq = 0
  #recent = new Recent()
  /** @type {NodeJS.Timeout|undefined} */
  #syncTimer
  #wake = () => {}
  #counted = { accepted: 0, droppedBatches: 0, droppedRows: 0, refused: 0 }
  /** @type {string|null} why it is not accepting now */
  blocked = null

  /** @param {SpoolOptions} options */
  constructor ({
    folder, gateway, source, encode, budget = new Budget(2 ** 30), whenFull = 'block', fsync = 'interval', fsyncIntervalMs = 1000,
    segmentBytes = Math.min(2 ** 23, Math.ceil(budget.maxBytes / 8)), waitingBytes = 2 ** 26, ledger, log = console, write
  }) {
    super()
    this.folder = folder
    this.gateway = gateway
    this.source = source
    this.budget = budget
    this.requiredSinks = new RequiredSinks(folder)
    this.options = { encode, whenFull, fsync, fsyncIntervalMs, waitingBytes, log }
    const { requiredSinks } = this
    this.#segments = new Segments({ folder, gateway, source, requiredSinks, budget, fsync, segmentBytes, ledger, write, log })
  }

  /** @param {SpoolOptions} options */
  static async open (options) {
    const spool = new Spool(options)
    await spool.requiredSinks.load()
    await spool.#segments.recover()
    spool.budget.holders.add(spool)
    const { fsync, fsyncIntervalMs, log } = spool.options
    if (fsync === 'interval') {
      const sync = () => spool.#segments.sync().catch(error => log.error(`Spool of "${spool.source}": fsync failed: ${describe(error)}`))
      spool.#syncTimer = setInterval(sync, fsyncIntervalMs).unref()
    }
    return spool
  }

  get bytes () { return this.#segments.bytes }

  get unstoredBytes () { return this.#segments.unstoredBytes }

  get batches () { return this.#segments.batches }

  get waiting () { return this.#waiting.length }

  get oldestSegmentMs () { return this.#segments.oldestMs }

  /** Counted since opening. */
  get counters () {
    const { damagedBatches, tornBytes } = this.#segments
    return { ...this.#counted, damagedBatches, tornBytes }
  }

  /** What the spool has: for `head`. */
  get epochs () { return this.#segments.epochs }

  /**
   * Accepts a batch: gives it its identity and writes it down. Resolves when it is produced (see FsyncPolicy); while the spool is full
   * and blocks, that is later. Rejects with SLUICE_SPOOL_FULL when too much is waiting, with SLUICE_SPOOL_CLOSED once it closes.
   * @param {Batch} batch
   * @returns {Promise<Identity>}
   */
  append (batch) {
    const bytes = batchBytes(batch)
    if (this.#closing) return Promise.reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool of "${this.source}" is closed.`))
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes > this.options.waitingBytes) {
      this.#counted.refused++
      const text = `The spool of "${this.source}" is full: ${this.blocked ?? 'the disk is too slow'}.`
      return Promise.reject(new SluiceError('SLUICE_SPOOL_FULL', text, {
        fix: 'A batch was refused and counted. Give it more space, or let it drop the oldest.'
      }))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, bytes, resolve, reject })
      this.#waitingBytes += bytes
      this.#pumping ??= this.#pump().finally(() => { this.#pumping = null })
    })
  }

  /**
   * The payload of a batch; null when it is gone or damaged.
   * @param {string} epoch
   * @param {number} seq
   * @returns {Promise<Uint8Array|null>}
   */
  async read (epoch, seq) {
    return (epoch === this.#epoch && this.#recent.take(seq)) || this.#segments.read(epoch, seq)
  }

  /**
   * The first place, from a place on, that some required sink has not stored: what is to be sent next.
   * @param {Place} [from]  may itself be gone
   * @returns {Place|null} null at the end
   */
  next (from = { epoch: '0', seq: 0 }) {
    return this.#segments.next(from)
  }

  /**
   * What a sink reports as stored; segments that every required sink has stored are removed.
   * @param {string} sink
   * @param {Record<string, [number, number][]>} epochs
   */
  async commit (sink, epochs) {
    const isNews = this.requiredSinks.set(sink, epochs)
    const released = await this.#segments.release()
    if (isNews || released) await this.requiredSinks.save()
  }

  /** The sink is required from now on, whatever it has stored. @param {string} sink */
  async require (sink) {
    if (!this.requiredSinks.sinks.has(sink)) await this.commit(sink, {})
  }

  /** The sink is no longer required. @param {string} sink */
  async forget (sink) {
    if (!this.requiredSinks.forget(sink)) return
    await this.requiredSinks.save()
    await this.#segments.release()
  }

  /** Frees what every required sink has stored. */
  reclaim () { return this.#segments.reclaim() }

  /** Evicts the oldest segment, stored or not. False when there is nothing to evict. */
  async dropOldest () {
    const dropped = await this.#segments.dropOldest()
    if (!dropped) return false
    this.#counted.droppedBatches += dropped.batches
    this.#counted.droppedRows += dropped.rows
    if (dropped.batches > 0) this.emit('dropped', dropped)
    return true
  }

  /** Another spool has freed room. */
  makeRoom () { this.#wake() }

  /** Waits for what was handed over, makes it durable, and releases the files. What still finds no room is rejected. */
  async close () {
    this.#closing = true
    this.#wake()
    await this.#pumping
    clearInterval(this.#syncTimer)
    this.budget.holders.delete(this)
    await closeAll(() => this.#segments.close(), () => this.requiredSinks.save())
  }

  async #pump () {
    while (this.#waiting.length > 0) {
      const accepted = await this.#persist(async () => {
        if (this.#epoch === '') await this.#startEpoch()
      }) && await this.#accept(this.#encodeSome())
      if (!accepted) break
    }
    for (const { reject } of this.#waiting.splice(0)) this.#refuse(reject)
    this.#waitingBytes = 0
  }

  /** As many waiting batches as fit into one write, under their identities. @returns {Pending[]} */
  #encodeSome () {
    /** @type {Pending[]} */
    const pending = []
    let size = 0
    while (this.#waiting.length > 0 && pending.length < 256 && size < Math.min(WRITE_BYTES, this.budget.maxBytes / 8)) {
      const { batch, bytes, resolve, reject } = /** @type {Waiting} */ (this.#waiting.shift())
      this.#waitingBytes -= bytes
      const identity = { gateway: this.gateway, source: this.source, epoch: this.#epoch, seq: this.#nextSeq }
      try {
        const payload = this.options.encode(batch.withIdentity(identity))
        if (payload.length > Math.min(MAX_PAYLOAD_BYTES, this.budget.maxBytes / 4)) {
          throw tooBig(this.source, payload.length)
        }
        pending.push({ seq: this.#nextSeq++, rows: batch.rows, payload, resolve: () => resolve(identity), reject })
        size += payload.length
      } catch (error) {
        this.#counted.refused++
        reject(/** @type {Error} */ (error))
      }
    }
    return pending
  }

  /** Writes batches down, waiting for room as long as it takes. False when closed before. @param {Pending[]} pending */
  async #accept (pending) {
    if (pending.length === 0) return true
    const size = pending.reduce((sum, { payload }) => sum + payload.length + 64, 0)
    const written = await this.#ensureRoom(size) && await this.#persist(() => this.#segments.write(this.#epoch, pending))
    for (const { seq, payload, resolve, reject } of pending) {
      if (!written) {
        this.#refuse(reject)
        continue
      }
      this.#recent.add(seq, payload)
      this.#counted.accepted++
      resolve()
    }
    if (written) this.emit('accepted', size)
    return written
  }

  /** It was closed before it could write. @param {(error: Error) => void} reject */
  #refuse (reject) {
    this.#counted.refused++
    reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool of "${this.source}" was closed while it could not write: ${this.blocked}.`))
  }

  /** @param {number} bytes */
  async #ensureRoom (bytes) {
    while (!this.budget.fits(bytes)) {
      let why = `${Math.round(this.budget.maxBytes / 1e6)} MB are waiting for the sinks`
      try {
        if (await this.#freeSome()) continue
      } catch (error) {
        why = `cannot remove what is stored: ${describe(error)}`
      }
      if (!await this.#wait(why)) return false
    }
    return true
  }

  /** As little as possible is removed. False when there is nothing to remove. */
  async #freeSome () {
    return await this.budget.reclaim() || (this.options.whenFull === 'drop-oldest' && this.budget.dropOldest())
  }

  /** Does what needs the disk, repeatedly while the disk refuses. False when closed before. @param {() => Promise<void>} work */
  async #persist (work) {
    while (true) {
      this.#segments.writing = true
      try {
        await work()
        this.#unblock()
        return true
      } catch (error) {
        this.#segments.writing = false
        const isDiskFull = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC'
        if (isDiskFull && await this.#freeSome().catch(() => false)) continue // the first error is the one to report
        if (!await this.#wait(`cannot write to ${this.folder}: ${describe(error)}`)) return false
      } finally {
        this.#segments.writing = false
      }
    }
  }

  /** A seq must not continue over a restart: after a power cut the files may have lost what a database has already stored. */
  async #startEpoch () {
    const path = join(this.folder, 'epoch')
    const kept = parseInt(await readFile(path, 'utf8').catch(() => '0'), 10) || 0
    const counter = 1 + Math.max(kept, this.#segments.newestEpoch)
    await replaceFile(path, String(counter))
    this.#epoch = `${counter}-${randomBytes(4).toString('hex')}`
  }

  /** Waits for room, for a moment. False when closing. @param {string} why */
  async #wait (why) {
    const isNews = this.blocked === null
    this.blocked ??= why
    if (this.#closing) return false
    if (isNews) {
      this.options.log.warn(`Spool of "${this.source}" is full: ${why}.`)
      this.emit('full')
    }
    await new Promise(resolve => {
      const timer = setTimeout(() => resolve(undefined), RETRY_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
    return !this.#closing
  }

  #unblock () {
    if (this.blocked === null) return
    this.blocked = null
    this.emit('room')
  }
}

/** @param {string} source @param {number} bytes */
function tooBig (source, bytes) {
  const message = `A batch of "${source}" takes ${bytes} bytes; a batch may take 16 MiB, and no more than a quarter of the spool.`
  return new SluiceError('SLUICE_SPOOL_BATCH_TOO_BIG', message, { fix: 'Make the batch smaller.' })
}
