import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, SluiceError } from '../../gateway/errors.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { Budget } from './budget.js'
import { Commits, replaceFile } from './commits.js'
import { Recent } from './recent.js'
import { epochCounter, Segment, segmentNames, syncFolder } from './segment.js'

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
 * @property {import('../../gateway/sinks/sink.js').Log} [log]
 * @property {import('./segment.js').OpenFile} [openFile]  for tests that need a disk to fail
 */

/**
 * @typedef {{epoch: string, seq: number}} Place
 * @typedef {{batch: Batch, bytes: number, resolve: (identity: Identity) => void, reject: (error: Error) => void}} Waiting
 * @typedef {import('./segment.js').Record & {resolve: () => void, reject: (error: Error) => void}} Pending
 */

const WRITE_BYTES = 2 ** 22

/**
 * What one source has produced and not every required sink has stored, in segment files. A batch is *produced* once `append` resolves.
 *
 * Events: `accepted` (there is more to read), `full` and `room` (it blocks, it goes on), `dropped` ({batches, rows}).
 */
export class Spool extends EventEmitter {
  /** @type {Segment[]} oldest first; the last is written to when `#active` */
  #segments = []
  #active = false
  /** @type {Map<string, RangeSet>} epoch → seqs that are in no segment though their neighbours are */
  #lost = new Map()
  /** @type {Waiting[]} */
  #waiting = []
  #waitingBytes = 0
  /** @type {Promise<void>|null} */
  #pumping = null
  #writing = false
  #closing = false
  #epoch = ''
  #nextSeq = 0
  #recent = new Recent()
  /** @type {NodeJS.Timeout|undefined} */
  #syncTimer
  #wake = () => {}
  /** Counted since opening. */
  counters = { accepted: 0, droppedBatches: 0, droppedRows: 0, damagedBatches: 0, tornBytes: 0, refused: 0 }
  /** @type {string|null} why it is not accepting now */
  blocked = null

  /** @param {SpoolOptions} options */
  constructor ({
    folder, gateway, source, encode, budget = new Budget(2 ** 30), whenFull = 'block', fsync = 'interval', fsyncIntervalMs = 1000,
    segmentBytes = Math.min(2 ** 23, Math.ceil(budget.maxBytes / 8)), waitingBytes = 2 ** 26, ledger, log = console, openFile = open
  }) {
    super()
    this.folder = folder
    this.gateway = gateway
    this.source = source
    this.budget = budget
    this.commits = new Commits(folder)
    this.options = { encode, whenFull, fsync, fsyncIntervalMs, segmentBytes, waitingBytes, ledger, log, openFile }
  }

  /** @param {SpoolOptions} options */
  static async open (options) {
    const spool = new Spool(options)
    await spool.#recover()
    spool.budget.holders.add(spool)
    if (spool.options.fsync === 'interval') {
      spool.#syncTimer = setInterval(() => spool.#sync(), spool.options.fsyncIntervalMs)
      spool.#syncTimer.unref()
    }
    return spool
  }

  get bytes () { return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0) }

  get batches () { return this.#segments.reduce((sum, { offsets }) => sum + offsets.length, 0) }

  get waiting () { return this.#waiting.length }

  /** When the oldest segment that could be given up was begun, milliseconds since 1970. */
  get oldestSegmentMs () { return this.#segments.length > (this.#active ? 1 : 0) ? this.#segments[0].createdMs : Infinity }

  /** What the spool holds: for `head`. @returns {{epoch: string, first: number, last: number, lost?: RangeSet}[]} */
  get epochs () {
    /** @type {{epoch: string, first: number, last: number, lost?: RangeSet}[]} */
    const epochs = []
    for (const { origin: { epoch }, first, last } of this.#segments) {
      const known = epochs.at(-1)
      if (known?.epoch === epoch) known.last = last
      else epochs.push({ epoch, first, last, ...this.#lost.has(epoch) && { lost: this.#lost.get(epoch) } })
    }
    return epochs.filter(({ first, last }) => last >= first)
  }

  /**
   * Accepts a batch: gives it its identity and writes it down. Resolves when it is produced (see FsyncPolicy); while the spool is full
   * and blocks, that is later. Rejects with SLUICE_SPOOL_FULL when even the waiting room is, SLUICE_SPOOL_CLOSED after `close`.
   * @param {Batch} batch
   * @returns {Promise<Identity>}
   */
  append (batch) {
    const bytes = 256 + batch.values * 8
    if (this.#closing) return Promise.reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool of "${this.source}" is closed.`))
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes > this.options.waitingBytes) {
      this.counters.refused++
      return Promise.reject(new SluiceError('SLUICE_SPOOL_FULL', `The spool of "${this.source}" is full: ${this.blocked ?? 'the disk is too slow'}.`,
        { fix: 'A batch was refused and counted. Give it more space, or let it drop the oldest.' }))
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
    const recent = epoch === this.#epoch ? this.#recent.get(seq) : undefined
    if (recent) return recent
    const segment = this.#segments.find(({ origin, first, last }) => origin.epoch === epoch && first <= seq && seq <= last)
    if (!segment) return null
    const payload = await segment.read(seq)
    if (!payload) this.#lose(epoch, seq, seq)
    return payload
  }

  /**
   * The first place, from a place on, that some required sink has not stored: what is to be sent next.
   * @param {Place} [from]  may itself be gone
   * @returns {Place|null} null at the end
   */
  next (from = { epoch: '0', seq: 0 }) {
    for (const { epoch, first, last } of this.epochs) {
      if (epochCounter(epoch) < epochCounter(from.epoch)) continue
      const start = epoch === from.epoch ? Math.max(first, from.seq) : first
      const seq = start > last ? null : this.commits.firstOpen(epoch, start, last, this.#lostOf(epoch))
      if (seq !== null) return { epoch, seq }
    }
    return null
  }

  /**
   * What a sink says it has stored; segments that every required sink has are removed.
   * @param {string} sink
   * @param {Record<string, [number, number][]>} epochs
   */
  async commit (sink, epochs) {
    const isNew = this.commits.set(sink, epochs)
    const released = await this.#release()
    if (isNew || released) await this.commits.save()
  }

  /** The sink is waited for no more. @param {string} sink */
  async forget (sink) {
    if (!this.commits.forget(sink)) return
    await this.commits.save()
    await this.#release()
  }

  /** Gives up the segment being written when all in it is stored: the next batch starts another. */
  async reclaim () {
    const segment = this.#active && !this.#writing ? this.#segments[this.#segments.length - 1] : undefined
    if (!segment || segment.offsets.length === 0 || !this.#isStored(segment)) return false
    this.#active = false
    return this.#release()
  }

  /** Removes the oldest segment that is not being written, stored or not. */
  async dropOldest () {
    if (this.#segments.length === 0 || (this.#active && this.#segments.length === 1)) return false
    const segment = this.#segments[0]
    const unstored = this.commits.firstOpen(segment.origin.epoch, segment.first, segment.last, this.#lostOf(segment.origin.epoch))
    if (unstored !== null) {
      const batches = segment.last - unstored + 1
      const rows = segment.rows.slice(unstored - segment.first).reduce((sum, count) => sum + count, 0)
      this.counters.droppedBatches += batches
      this.counters.droppedRows += rows
      this.emit('dropped', { batches, rows })
    }
    await this.#removeFirst()
    return true
  }

  /** Other spools gave back room. */
  makeRoom () { this.#wake() }

  /** Waits for what was handed over, makes it durable, and lets go. What still finds no room is rejected. */
  async close () {
    this.#closing = true
    this.#wake()
    await this.#pumping
    clearInterval(this.#syncTimer)
    this.budget.holders.delete(this)
    this.budget.usedBytes -= this.bytes
    for (const segment of this.#segments) {
      await segment.sync()
      await segment.close()
    }
    await this.commits.save()
  }

  async #recover () {
    const { folder, options: { log } } = this
    await mkdir(folder, { recursive: true })
    await this.commits.load()
    for (const name of segmentNames(await readdir(folder))) {
      const { segment, tornBytes, damaged } = await Segment.recover(join(folder, name))
      this.counters.tornBytes += tornBytes
      if (!segment) {
        await unlink(join(folder, name))
        continue
      }
      const before = this.#segments.at(-1)
      const { epoch } = segment.origin
      this.#segments.push(segment)
      this.budget.usedBytes += segment.bytes
      for (const seq of damaged) this.#lose(epoch, seq, seq)
      if (before?.origin.epoch === epoch && before.last + 1 < segment.first) this.#lose(epoch, before.last + 1, segment.first - 1)
    }
    if (this.counters.tornBytes > 0) log.warn(`Spool of "${this.source}": cut off ${this.counters.tornBytes} bytes of an unfinished write.`)
    await this.#release()
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

  /** As many waiting batches as go into one write, under their identities. @returns {Pending[]} */
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
        if (payload.length > this.budget.maxBytes / 4) {
          throw new SluiceError('SLUICE_SPOOL_BATCH_TOO_BIG', `A batch of "${this.source}" takes ${payload.length} bytes, more than a quarter of the spool.`, { fix: 'Make the batch smaller or the spool larger.' })
        }
        pending.push({ seq: this.#nextSeq++, rows: batch.rows, payload, resolve: () => resolve(identity), reject })
        size += payload.length
      } catch (error) {
        this.counters.refused++
        reject(/** @type {Error} */ (error))
      }
    }
    return pending
  }

  /** Writes batches down, waiting for room as long as it takes. False when closed before. @param {Pending[]} pending */
  async #accept (pending) {
    if (pending.length === 0) return true
    const size = pending.reduce((sum, { payload }) => sum + payload.length + 64, 0)
    const written = await this.#ensureRoom(size) && await this.#persist(() => this.#write(pending))
    for (const { seq, payload, resolve, reject } of pending) {
      if (!written) {
        this.#refuse(reject)
        continue
      }
      this.#recent.add(seq, payload)
      this.counters.accepted++
      resolve()
    }
    if (written) this.emit('accepted')
    return written
  }

  /** @param {(error: Error) => void} reject */
  #refuse (reject) {
    this.counters.refused++
    reject(new SluiceError('SLUICE_SPOOL_FULL', `The spool of "${this.source}" was closed while it could not write: ${this.blocked}.`))
  }

  /** @param {number} bytes */
  async #ensureRoom (bytes) {
    while (!this.budget.fits(bytes)) {
      if (await this.budget.reclaim()) continue
      if (this.options.whenFull === 'drop-oldest' && await this.budget.dropOldest()) continue
      if (!await this.#wait(`${Math.round(this.budget.maxBytes / 1e6)} MB are waiting for the sinks`)) return false
    }
    return true
  }

  /** Does what needs the disk, again and again while the disk refuses. False when closed before. @param {() => Promise<void>} work */
  async #persist (work) {
    while (true) {
      this.#writing = true
      try {
        await work()
        this.#unblock()
        return true
      } catch (error) {
        const full = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC'
        if (full && this.options.whenFull === 'drop-oldest' && await this.budget.dropOldest()) continue
        this.#writing = false
        if (!await this.#wait(`cannot write to ${this.folder}: ${describe(error)}`)) return false
      } finally {
        this.#writing = false
      }
    }
  }

  /** @param {Pending[]} records */
  async #write (records) {
    let segment = this.#active ? this.#segments[this.#segments.length - 1] : undefined
    if (!segment || segment.bytes >= this.options.segmentBytes) segment = await this.#addSegment(records[0].seq)
    const before = segment.bytes
    if (segment.last < records[0].seq) await segment.append(records)
    this.budget.use(segment.bytes - before)
    if (this.options.fsync === 'batch') await segment.sync()
  }

  /** @param {number} first */
  async #addSegment (first) {
    const { fsync, ledger, openFile } = this.options
    if (this.#active && fsync !== 'system') await this.#segments[this.#segments.length - 1].sync()
    const segment = await Segment.create(this.folder, { gateway: this.gateway, source: this.source, epoch: this.#epoch }, first, openFile)
    try {
      if (fsync !== 'system') await syncFolder(segment.path)
      if (ledger) await link(segment.path, join(ledger, `${encodeURIComponent(this.source)}.${basename(segment.path)}`))
    } catch (error) {
      await segment.remove()
      throw error
    }
    this.budget.use(segment.bytes)
    this.#segments.push(segment)
    this.#active = true
    await this.#release()
    return segment
  }

  /** A seq must not go on over a restart: after a power cut the files may have lost what a database has already stored. */
  async #startEpoch () {
    const path = join(this.folder, 'epoch')
    const kept = parseInt(await readFile(path, 'utf8').catch(() => '0'), 10) || 0
    const counter = 1 + Math.max(kept, ...this.#segments.map(({ origin }) => epochCounter(origin.epoch)))
    await replaceFile(path, String(counter))
    this.#epoch = `${counter}-${randomBytes(4).toString('hex')}`
  }

  /** @param {Segment} segment */
  #isStored ({ origin: { epoch }, first, last }) {
    return this.commits.firstOpen(epoch, first, last, this.#lostOf(epoch)) === null
  }

  async #release () {
    let released = false
    while (this.#segments.length > (this.#active ? 1 : 0) && this.commits.sinks.size > 0 && this.#isStored(this.#segments[0])) {
      await this.#removeFirst()
      released = true
    }
    return released
  }

  async #removeFirst () {
    const segment = /** @type {Segment} */ (this.#segments.shift())
    this.budget.use(-segment.bytes)
    await segment.remove()
  }

  /** Waits for room, at most a second. False when closing. @param {string} why */
  async #wait (why) {
    if (this.#closing) return false
    if (this.blocked === null) {
      this.blocked = why
      this.options.log.warn(`Spool of "${this.source}" is full: ${why}.`)
      this.emit('full')
    }
    await new Promise(resolve => {
      const timer = setTimeout(() => resolve(undefined), 1000)
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

  #sync () {
    const segment = this.#active ? this.#segments[this.#segments.length - 1] : undefined
    segment?.sync().catch(error => this.options.log.error(`Spool of "${this.source}": fsync failed: ${describe(error)}`))
  }

  /** @param {string} epoch */
  #lostOf (epoch) {
    return this.#lost.get(epoch) ?? new RangeSet()
  }

  /** @param {string} epoch @param {number} first @param {number} last */
  #lose (epoch, first, last) {
    const lost = this.#lostOf(epoch)
    this.#lost.set(epoch, lost)
    this.counters.damagedBatches += lost.missing(first, last).reduce((sum, [from, to]) => sum + to - from + 1, 0)
    lost.add(first, last)
    this.options.log.error(`Spool of "${this.source}": batches ${first}…${last} of epoch ${epoch} are damaged on disk and lost.`)
  }
}
