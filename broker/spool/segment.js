import { randomBytes } from 'node:crypto'
import { writevSync } from 'node:fs'
import { open, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_FILE } from '../../gateway/base/files.js'
import { hashOf } from '../../gateway/batch/hashes.js'
import { HEADER_BYTES, Headers, KEY_BYTES, Kind, PREAMBLE_BYTES, preambleOf } from './record.js'
import { segmentName } from './scan.js'

/** A little is copied beside its header: one piece to write is less work than two. */
const COPY_BYTES = 1 << 13
const AT_ONCE_BYTES = 1 << 17

/**
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {import('./stream.js').Run} Run
 * @typedef {import('./stream.js').Mark} Mark
 * @typedef {{kind: number, stream: Stream, mark: Mark, end: Mark, rows: number, hash: number, payload: Uint8Array}} Piece
 *   to be written as one record, from one mark of its stream to another
 * @typedef {typeof writeAt} WriteAt
 */

/** An append-only file of records of many streams: see record.js. */
export class Segment {
  #writeAt
  #headers
  /** Headers and short payloads of one write; they follow one after the other. */
  #block = Buffer.alloc(0)
  #isSyncing = false
  #isDirty = false
  /** @type {Set<Stream>} the streams that are introduced in it */
  #introduced = new Set()
  /** @type {number[]} where each batch starts */
  offsets = []
  /** @type {Run[]} that each batch belongs to */
  runOf = []
  /** @type {number[]} */
  seqs = []
  /** @type {Run[]} all there are in it */
  runs = []

  /**
   * @param {object} options
   * @param {string} options.path
   * @param {number} options.number
   * @param {Buffer} options.key
   * @param {number} options.createdMs
   * @param {import('node:fs/promises').FileHandle} options.file
   * @param {number} options.base  position of its first batch in the log
   * @param {number} options.bytes
   * @param {WriteAt} [options.write]
   */
  constructor ({ path, number, key, createdMs, file, base, bytes, write = writeAt }) {
    this.path = path
    this.number = number
    this.createdMs = createdMs
    this.file = file
    this.base = base
    this.bytes = bytes
    this.#headers = new Headers(key)
    this.#writeAt = write
  }

  get isEmpty () { return this.offsets.length === 0 }

  /** Position behind its last batch. */
  get end () { return this.base + this.offsets.length }

  /**
   * @param {string} folder
   * @param {number} number
   * @param {number} base
   * @param {WriteAt} [write]
   */
  static async create (folder, number, base, write) {
    const key = randomBytes(KEY_BYTES)
    const createdMs = Date.now()
    const path = join(folder, segmentName(number, key))
    const segment = new Segment({ path, number, key, createdMs, file: await open(path, 'wx+', PRIVATE_FILE), base, bytes: 0, write })
    try {
      await segment.#write([preambleOf(key, createdMs)], PREAMBLE_BYTES)
      return segment
    } catch (error) {
      await segment.remove()
      throw error
    }
  }

  /** The most that pieces can take in a segment. @param {Piece[]} pieces */
  static sizeOf (pieces) {
    let size = PREAMBLE_BYTES
    for (const { payload } of pieces) size += HEADER_BYTES + payload.length
    for (const { introduction } of new Set(pieces.map(({ stream }) => stream))) size += 2 * (HEADER_BYTES + introduction.length)
    return size
  }

  /**
   * Appends records in one write. After a failed write the file is cut back, so that it ends with a whole record. A stream is introduced
   * before its first record and again behind them all: what follows cannot be read without.
   * @param {Piece[]} pieces
   * @returns {Promise<number[]>} where each begins
   */
  async write (pieces) {
    const introductions = this.#introductionsTo(pieces)
    const records = introductions.length > 0 ? [...introductions, ...pieces, ...introductions] : pieces
    let size = 0
    let blockSize = 0
    for (const { payload: { length } } of records) {
      size += HEADER_BYTES + length
      blockSize += HEADER_BYTES + (length <= COPY_BYTES ? length : 0)
    }
    if (this.#block.length < blockSize) this.#block = Buffer.allocUnsafe(blockSize)
    const block = this.#block
    const buffers = []
    const offsets = []
    let from = 0
    let at = 0
    let offset = this.bytes
    for (const { kind, stream, mark: { seq, rows: before, sum }, rows, hash, payload } of records) {
      const { length } = payload
      offsets.push(offset)
      this.#headers.write(block, at, { length, rows, kind, stream: stream.number, seq, before, sum, hash })
      at += HEADER_BYTES
      if (length <= COPY_BYTES) {
        block.set(payload, at)
        at += length
      } else {
        buffers.push(block.subarray(from, at), payload)
        from = at
      }
      offset += HEADER_BYTES + length
    }
    if (at > from) buffers.push(block.subarray(from, at))
    await this.#write(buffers, size)
    for (const { stream } of introductions) this.#introduced.add(stream)
    return introductions.length > 0 ? offsets.slice(introductions.length, introductions.length + pieces.length) : offsets
  }

  /** A batch is in the file. @param {number} offset @param {Stream} stream @param {Mark} mark @param {Mark} end */
  add (offset, stream, mark, end) {
    this.runOf.push(stream.append(this, this.offsets.length, mark, end))
    this.offsets.push(offset)
    this.seqs.push(mark.seq)
  }

  /** Nothing from an offset on was ever accepted. @param {number} offset */
  async cutBack (offset) {
    while (!this.isEmpty && this.offsets[this.offsets.length - 1] >= offset) {
      const run = /** @type {Run} */ (this.runOf.pop())
      this.offsets.pop()
      this.seqs.pop()
      run.removeLast()
      if (run.at.length === 0) this.runs.splice(this.runs.indexOf(run), 1)
    }
    await truncate(this.path, offset)
    this.bytes = offset
  }

  /** What a batch takes. @param {number} index */
  bytesOf (index) {
    return (this.offsets[index + 1] ?? this.bytes) - this.offsets[index]
  }

  /**
   * The payload of a batch; null where it is damaged or cannot be read.
   * @param {Run} run @param {number} seq @param {import('./read-ahead.js').ReadAhead} ahead
   */
  async read (run, seq, ahead) {
    const index = run.at[seq - run.first]
    const bytes = await ahead.read(this, this.offsets[index], this.bytesOf(index))
    const header = this.#headers.read(bytes) ?? this.#headers.repair(bytes)
    if (!header || header.seq !== seq || header.stream !== run.stream.number) return null
    const payload = bytes.subarray(HEADER_BYTES, HEADER_BYTES + header.length)
    return hashOf(payload) === run.hashOf(seq) ? payload : null
  }

  async sync () {
    if (!this.#isDirty) return
    this.#isDirty = false
    this.#isSyncing = true
    try {
      await this.file.datasync()
    } catch (error) {
      this.#isDirty = true
      throw error
    } finally {
      this.#isSyncing = false
    }
  }

  close () { return this.file.close() }

  async remove () {
    await this.file.close()
    await rm(this.path, { force: true })
  }

  /** @param {Piece[]} pieces */
  #introductionsTo (pieces) {
    /** @type {Piece[]} */
    const introductions = []
    for (const piece of pieces) {
      const { stream } = piece
      if (this.#introduced.has(stream) || introductions.some(introduction => introduction.stream === stream)) continue
      introductions.push({ ...piece, kind: Kind.introduction, rows: 0, hash: stream.number, payload: stream.introduction })
    }
    return introductions
  }

  /** @param {Uint8Array[]} buffers @param {number} size */
  async #write (buffers, size) {
    try {
      const written = await this.#writeAt(this.file, buffers, this.bytes, this.#isSyncing)
      if (written < size) throw Object.assign(new Error(`wrote ${written} of ${size} bytes`), { code: 'ENOSPC' })
    } catch (error) {
      await this.file.truncate(this.bytes).catch(() => {}) // the next write goes to the same place
      throw error
    }
    this.bytes += size
    this.#isDirty = true
  }
}

/**
 * A little goes into the system's cache at once, which takes microseconds where a thread's wake-up takes ten times as long. While the
 * file is being forced to disk, that could block the whole process: then, and with much to write, a thread does it.
 * @param {import('node:fs/promises').FileHandle} file
 * @param {Uint8Array[]} buffers
 * @param {number} position
 * @param {boolean} isSyncing
 * @returns {number|Promise<number>} bytes written; fewer than there are when the disk is full
 */
export function writeAt (file, buffers, position, isSyncing) {
  const size = buffers.reduce((sum, { length }) => sum + length, 0)
  if (!isSyncing && size <= AT_ONCE_BYTES) return writevSync(file.fd, buffers, position)
  return file.writev(buffers, position).then(({ bytesWritten }) => bytesWritten)
}
