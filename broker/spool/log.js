import { link, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { closeAll } from '../../gateway/base/close-all.js'
import { makePrivateFolder, syncFolder } from '../../gateway/base/files.js'
import { Kind } from './record.js'
import { Segment } from './segment.js'

/**
 * @typedef {import('./segment.js').Piece} Piece
 * @typedef {{path: string, bytes: number}} Aside  a file that cannot be read: kept as long as there is room
 */

/** The segment files of a spool, oldest first. All its sources are in them, in the order in which they were accepted. */
export class Log {
  /** @type {Segment[]} the last is written to while `isActive` */
  segments = []
  /** @type {Aside[]} */
  aside = []
  isActive = false
  isWriting = false
  /** In the newest are records that are not accepted yet: they could not be forced to disk. */
  #isUnfinished = false
  /** Numbers in the names of the files, which are their order. */
  nextNumber = 1
  /** Position behind the last batch when the last segment was removed. */
  #end = 0

  /**
   * @param {object} options
   * @param {string} options.folder
   * @param {import('./spool.js').FsyncPolicy} options.fsync
   * @param {number} options.segmentBytes
   * @param {string} [options.ledger]
   * @param {import('./segment.js').WriteAt} [options.write]
   */
  constructor (options) {
    this.options = options
  }

  get bytes () {
    return [...this.segments, ...this.aside].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  get batches () { return this.segments.reduce((sum, { offsets }) => sum + offsets.length, 0) }

  /** Behind the last batch: no position is used twice. */
  get end () { return Math.max(this.#end, this.segments.at(-1)?.end ?? 0) }

  /** The newest cannot be removed now. */
  get isBusy () { return this.isWriting || this.#isUnfinished }

  /** The segment that is written to. */
  get newest () { return this.isActive ? this.segments.at(-1) : undefined }

  /** Those that no more is written to. */
  get finished () { return this.isActive ? this.segments.slice(0, -1) : this.segments }

  /** The first segment that has a batch at or behind a position; its index. @param {number} position */
  indexOf (position) {
    let low = 0
    let high = this.segments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.segments[middle].end <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Writes records to the current segment or a new one. Called again after a failure, it continues where that happened.
   * @param {{pieces: Piece[], written?: {segment: Segment, offsets: number[]}, isDurable?: boolean}} group
   */
  async write (group) {
    const { segmentBytes, fsync } = this.options
    if (!group.written) {
      let segment = this.newest
      if (!segment || segment.bytes >= segmentBytes) segment = await this.#add()
      group.written = { segment, offsets: await segment.write(group.pieces) }
      this.#isUnfinished = true
    }
    const { segment, offsets } = group.written
    if (fsync === 'batch' || group.isDurable) await segment.sync()
    for (const [i, { kind, stream, mark, end }] of group.pieces.entries()) {
      if (kind === Kind.batch) segment.add(offsets[i], stream, mark, end)
    }
    this.#isUnfinished = false
  }

  async sync () { await this.newest?.sync() }

  /** Takes segments out, so that nothing of them is known any more; their files are the caller's to remove. @param {Segment[]} segments */
  detach (segments) {
    this.#end = this.end
    for (const segment of segments) {
      if (segment === this.newest) this.isActive = false
      this.segments.splice(this.segments.indexOf(segment), 1)
      for (const run of segment.runs) run.stream.remove(run)
    }
  }

  /** Frees the oldest file that cannot be read. */
  async dropAside () {
    const [oldest] = this.aside
    if (!oldest) return undefined
    await rm(oldest.path, { force: true })
    this.aside.shift()
    return oldest
  }

  async close () {
    await closeAll(...this.segments.flatMap(segment => [() => segment.sync(), () => segment.close()]))
  }

  async #add () {
    const { folder, fsync, ledger, write } = this.options
    if (fsync !== 'system') await this.sync()
    await makePrivateFolder(folder) // somebody may have tidied up
    const segment = await Segment.create(folder, this.nextNumber, this.end, write)
    try {
      if (fsync !== 'system') await syncFolder(segment.path)
      if (ledger) await link(segment.path, join(ledger, basename(segment.path)))
    } catch (error) {
      await segment.remove()
      throw error
    }
    this.nextNumber++
    this.segments.push(segment)
    this.isActive = true
    return segment
  }
}
