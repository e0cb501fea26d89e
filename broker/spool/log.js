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
  /** The newest is being written: it cannot be removed now. */
  isWriting = false
  /** Numbers in the names of the files, which are their order. */
  nextNumber = 1

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

  /** Behind the last batch. */
  get end () { return this.segments.at(-1)?.end ?? 0 }

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
   * @param {{pieces: Piece[], offsets?: number[], isDurable?: boolean}} group
   */
  async write (group) {
    const { segmentBytes, fsync } = this.options
    let segment = this.newest
    if (!group.offsets) {
      if (!segment || segment.bytes >= segmentBytes) segment = await this.#add()
      group.offsets = await segment.write(group.pieces)
    }
    if (fsync === 'batch' || group.isDurable) await segment?.sync()
    for (const [i, { kind, stream, mark, end }] of group.pieces.entries()) {
      if (kind === Kind.batch) segment?.add(group.offsets[i], stream, mark, end)
    }
  }

  async sync () { await this.newest?.sync() }

  /** Takes segments out, so that nothing of them is known any more; their files are the caller's to remove. @param {Segment[]} segments */
  detach (segments) {
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
