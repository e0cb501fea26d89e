import { link, mkdir, readdir, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { syncFolder } from '../../gateway/base/files.js'
import { epochCounter, Segment, segmentNames } from './segment.js'

/**
 * @typedef {{epoch: string, seq: number}} Place
 * @typedef {{epoch: string, first: number, last: number, lost?: RangeSet}} EpochHead
 *
 * @typedef {object} SegmentsOptions
 * @property {string} folder
 * @property {string} gateway
 * @property {string} source
 * @property {import('./required-sinks.js').RequiredSinks} requiredSinks
 * @property {import('./budget.js').Budget} budget
 * @property {import('./spool.js').FsyncPolicy} fsync
 * @property {number} segmentBytes
 * @property {string} [ledger]
 * @property {import('./segment.js').WriteAt} [write]
 * @property {import('../../gateway/base/log.js').Log} log
 */

/**
 * The segment files of a spool, oldest first: what is in them, what of it every required sink has stored, and what can be evicted.
 */
export class Segments {
  /** @type {Segment[]} the last is written to while `#active` */
  #segments = []
  #active = false
  /** @type {Map<string, RangeSet>} epoch → seqs that are in no segment though their neighbours are */
  #lost = new Map()
  /** The newest is being written: it cannot be removed now. */
  writing = false
  damagedBatches = 0
  tornBytes = 0

  /** @param {SegmentsOptions} options */
  constructor (options) {
    this.options = options
  }

  get bytes () { return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0) }

  /** What of it some required sink has not stored. */
  get unstoredBytes () {
    return this.#segments.reduce((total, segment) => {
      return this.#openIn(segment).ranges.reduce((sum, [first, last]) => sum + segment.bytesOf(first, last), total)
    }, 0)
  }

  get batches () { return this.#segments.reduce((sum, { offsets }) => sum + offsets.length, 0) }

  /** When the oldest segment that is not written to any more was begun, milliseconds since 1970. */
  get oldestMs () { return this.#segments.length > (this.#active ? 1 : 0) ? this.#segments[0].createdMs : Infinity }

  get newestEpoch () { return Math.max(0, ...this.#segments.map(({ origin }) => epochCounter(origin.epoch))) }

  /** @returns {EpochHead[]} */
  get epochs () {
    /** @type {EpochHead[]} */
    const epochs = []
    for (const { origin: { epoch }, first, last } of this.#segments) {
      const known = epochs.at(-1)
      if (known?.epoch === epoch) known.last = last
      else epochs.push({ epoch, first, last, ...this.#lost.has(epoch) && { lost: this.#lost.get(epoch) } })
    }
    return epochs.filter(({ first, last }) => last >= first)
  }

  /** Opens what an earlier process left. */
  async recover () {
    const { folder, gateway, source, budget, log } = this.options
    await mkdir(folder, { recursive: true })
    for (const name of segmentNames(await readdir(folder))) {
      const { segment, tornBytes, damaged } = await Segment.recover(join(folder, name))
      this.tornBytes += tornBytes
      if (!segment) {
        await unlink(join(folder, name))
        continue
      }
      const before = this.#segments.at(-1)
      const { epoch } = segment.origin
      this.#segments.push(segment)
      budget.use(segment.bytes)
      for (const seq of damaged) this.#lose(epoch, seq, seq)
      if (before?.origin.epoch === epoch && before.last + 1 < segment.first) this.#lose(epoch, before.last + 1, segment.first - 1)
    }
    if (this.tornBytes > 0) log.warn(`Spool of "${source}": cut off ${this.tornBytes} bytes of an unfinished write.`)
    await this.release()
    const stranger = this.#segments.find(({ origin }) => origin.gateway !== gateway)
    if (stranger) {
      await this.close()
      const text = `It has batches of the gateway ${stranger.origin.gateway}, and this is ${gateway}: no sink would report them as stored.`
      throw new SluiceError('SLUICE_SPOOL_GATEWAY', text, {
        fix: `Write that name into the file gateway-id of the data folder, or move ${folder} away.`
      })
    }
  }

  /** The payload of a batch; null when it is gone or damaged. @param {string} epoch @param {number} seq */
  async read (epoch, seq) {
    const segment = this.#segments.find(({ origin, first, last }) => origin.epoch === epoch && first <= seq && seq <= last)
    if (!segment) return null
    const payload = await segment.read(seq)
    if (!payload) this.#lose(epoch, seq, seq)
    return payload
  }

  /** The first place, from a place on, that some required sink has not stored; null at the end. @param {Place} from */
  next (from) {
    for (const { epoch, first, last } of this.epochs) {
      if (epochCounter(epoch) < epochCounter(from.epoch)) continue
      const start = epoch === from.epoch ? Math.max(first, from.seq) : first
      const [gap] = this.options.requiredSinks.open(epoch, start, last, this.#lostOf(epoch)).ranges
      if (gap) return { epoch, seq: gap[0] }
    }
    return null
  }

  /**
   * Writes batches to the current segment or a new one. Called again after a failure, it continues where that happened.
   * @param {string} epoch
   * @param {import('./segment.js').Record[]} records
   */
  async write (epoch, records) {
    const { segmentBytes, budget, fsync } = this.options
    let segment = this.#newest
    const isThere = segment !== undefined && segment.last >= records[0].seq
    if (!segment || (segment.bytes >= segmentBytes && !isThere)) segment = await this.#add(epoch, records[0].seq)
    const before = segment.bytes
    if (!isThere) await segment.append(records)
    budget.use(segment.bytes - before)
    if (fsync === 'batch') await segment.sync()
  }

  async sync () { await this.#newest?.sync() }

  /** Removes the oldest segments that every required sink has stored. @returns {Promise<boolean>} whether there were any */
  async release () {
    let released = false
    const { requiredSinks } = this.options
    while (this.#segments.length > (this.#active ? 1 : 0) && requiredSinks.sinks.size > 0 && !this.#hasOpen(this.#segments[0])) {
      await this.#removeFirst()
      released = true
    }
    return released
  }

  /** Removes the current segment when all in it is stored: the next batch starts another. */
  async reclaim () {
    const segment = this.writing ? undefined : this.#newest
    if (!segment || segment.offsets.length === 0 || this.#hasOpen(segment)) return false
    this.#active = false
    return this.release()
  }

  /**
   * Evicts the oldest segment that is not being written, stored or not.
   * @returns {Promise<{batches: number, rows: number}|null>} what some required sink had not stored; null when there is none to remove
   */
  async dropOldest () {
    const [segment] = this.#segments
    if (!segment || (segment === this.#newest && (this.writing || segment.offsets.length === 0))) return null
    const open = this.#openIn(segment)
    if (segment === this.#newest) this.#active = false
    await this.#removeFirst()
    const rows = open.ranges.flatMap(([first, last]) => segment.rows.slice(first - segment.first, last - segment.first + 1))
    return { batches: open.size, rows: rows.reduce((sum, count) => sum + count, 0) }
  }

  async close () {
    this.options.budget.use(-this.bytes)
    await closeAll(...this.#segments.flatMap(segment => [() => segment.sync(), () => segment.close()]))
  }

  get #newest () { return this.#active ? this.#segments[this.#segments.length - 1] : undefined }

  /** @param {string} epoch @param {number} first */
  async #add (epoch, first) {
    const { folder, gateway, source, fsync, ledger, write, budget } = this.options
    if (fsync !== 'system') await this.sync()
    await mkdir(folder, { recursive: true }) // somebody may have tidied up
    const segment = await Segment.create(folder, { gateway, source, epoch }, first, write)
    try {
      if (fsync !== 'system') await syncFolder(segment.path)
      if (ledger) await link(segment.path, join(ledger, `${encodeURIComponent(source)}.${basename(segment.path)}`))
    } catch (error) {
      await segment.remove()
      throw error
    }
    budget.use(segment.bytes)
    this.#segments.push(segment)
    this.#active = true
    await this.release()
    return segment
  }

  /** What of it some required sink has not stored. @param {Segment} segment */
  #openIn ({ origin: { epoch }, first, last }) {
    return this.options.requiredSinks.open(epoch, first, last, this.#lostOf(epoch))
  }

  /** @param {Segment} segment */
  #hasOpen (segment) {
    return this.#openIn(segment).ranges.length > 0
  }

  async #removeFirst () {
    const segment = /** @type {Segment} */ (this.#segments.shift())
    this.options.budget.use(-segment.bytes)
    await segment.remove()
  }

  /** @param {string} epoch */
  #lostOf (epoch) {
    return this.#lost.get(epoch) ?? new RangeSet()
  }

  /** @param {string} epoch @param {number} first @param {number} last */
  #lose (epoch, first, last) {
    const lost = this.#lostOf(epoch)
    this.#lost.set(epoch, lost)
    this.damagedBatches += lost.missing(first, last).reduce((sum, [from, to]) => sum + to - from + 1, 0)
    lost.add(first, last)
    this.options.log.error(`Spool of "${this.options.source}": batches ${first}…${last} of epoch ${epoch} are damaged on disk and lost.`)
  }
}
