import { crc32 } from 'node:zlib'
import { writevSync } from 'node:fs'
import { basename, join } from 'node:path'
import { open, rm, unlink } from 'node:fs/promises'

/**
 * A segment is an append-only file of records, the first of which describes the rest:
 *
 *     record  := length u32, crc32 u32, seq u64, rows u32, payload[length]      (little endian; the checksum covers all after it)
 *     segment := record(JSON {gateway, source, epoch}, seq = first seq), record(payload)*
 *
 * Seqs count up by one, so a record's place in the file gives its seq, and the file's name the first.
 */
const HEADER_BYTES = 20
const MAX_RECORD = 1 << 30
const SCAN_BYTES = 1 << 20
const AT_ONCE_BYTES = 1 << 16

/** @typedef {{seq: number, rows: number, payload: Uint8Array}} Record */
/** @typedef {typeof writeAt} WriteAt */

export class Segment {
  #writeAt
  #syncing = false

  /**
   * @param {string} path
   * @param {{gateway: string, source: string, epoch: string}} origin
   * @param {number} first  seq of the first record
   * @param {import('node:fs/promises').FileHandle} file
   * @param {WriteAt} [write]
   */
  constructor (path, origin, first, file, write = writeAt) {
    this.path = path
    this.origin = origin
    this.first = first
    this.file = file
    this.bytes = 0
    /** @type {number[]} where each record starts; -1 for a damaged one */
    this.offsets = []
    /** @type {number[]} */
    this.rows = []
    this.dirty = false
    this.#writeAt = write
    this.createdMs = Date.now()
  }

  get last () { return this.first + this.offsets.length - 1 }

  /**
   * @param {string} folder
   * @param {{gateway: string, source: string, epoch: string}} origin
   * @param {number} first
   * @param {WriteAt} [write]
   */
  static async create (folder, origin, first, write = writeAt) {
    const name = `${origin.epoch}.${String(first).padStart(12, '0')}.segment`
    const segment = new Segment(join(folder, name), origin, first, await open(join(folder, name), 'wx+'), write)
    try {
      await segment.#write(frame({ seq: first, rows: 0, payload: Buffer.from(JSON.stringify(origin)) }))
      return segment
    } catch (error) {
      await segment.file.close()
      await unlink(segment.path)
      throw error
    }
  }

  /**
   * Opens what an earlier process left, which may have died at any point: a torn end is cut off, a damaged record in the middle
   * becomes a hole. Null when not even the description is whole: nothing in such a file was ever accepted.
   * @param {string} path
   * @returns {Promise<{segment: Segment|null, tornBytes: number, damaged: number[]}>}
   */
  static async recover (path) {
    const file = await open(path, 'r+')
    const { size, birthtimeMs } = await file.stat()
    const reader = new Scanner(file, size)
    const description = await reader.next()
    if (!description || description.damaged) {
      await file.close()
      return { segment: null, tornBytes: size, damaged: [] }
    }
    const segment = new Segment(path, JSON.parse(description.payload.toString()), description.seq, file)
    segment.bytes = reader.position
    segment.createdMs = birthtimeMs
    /** @type {number[]} */
    const damaged = []
    for (let start = reader.position, record; (record = await reader.next()); start = reader.position) {
      if (record.damaged && !(await reader.followedBy(segment.last + 2))) break
      if (record.damaged) damaged.push(segment.last + 1)
      segment.offsets.push(record.damaged ? -1 : start)
      segment.rows.push(record.damaged ? 0 : record.rows)
      segment.bytes = reader.position
    }
    if (segment.bytes < size) {
      await file.truncate(segment.bytes)
      await file.datasync()
    }
    return { segment, tornBytes: size - segment.bytes, damaged }
  }

  /** What the records of these seqs take. @param {number} first @param {number} last */
  bytesOf (first, last) {
    const end = this.offsets[last - this.first + 1] ?? this.bytes
    return Math.max(0, end - this.offsets[first - this.first])
  }

  /**
   * Appends records in one write. After a failed write the file is cut back, so that it ends with a whole record.
   * @param {Record[]} records  in order of seq, starting after `last`
   */
  async append (records) {
    const buffers = []
    const offsets = []
    let end = this.bytes
    for (const record of records) {
      offsets.push(end)
      buffers.push(...frame(record))
      end += HEADER_BYTES + record.payload.length
    }
    await this.#write(buffers)
    for (const [i, record] of records.entries()) {
      this.offsets.push(offsets[i])
      this.rows.push(record.rows)
    }
  }

  /** The payload of a record; null where it is damaged. @param {number} seq */
  async read (seq) {
    const offset = this.offsets[seq - this.first]
    if (offset === -1) return null
    const next = this.offsets[seq - this.first + 1]
    const length = (next > offset ? next : this.bytes) - offset
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await this.file.read(buffer, 0, length, offset)
    const record = bytesRead < HEADER_BYTES ? null : parse(buffer.subarray(0, bytesRead))
    if (record && !record.damaged && record.seq === seq) return record.payload
    this.offsets[seq - this.first] = -1
    return null
  }

  async sync () {
    if (!this.dirty) return
    this.dirty = false
    this.#syncing = true
    try {
      await this.file.datasync()
    } catch (error) {
      this.dirty = true
      throw error
    } finally {
      this.#syncing = false
    }
  }

  close () { return this.file.close() }

  async remove () {
    await this.file.close()
    await rm(this.path, { force: true })
  }

  /** @param {Uint8Array[]} buffers */
  async #write (buffers) {
    const size = buffers.reduce((sum, { length }) => sum + length, 0)
    try {
      const written = await this.#writeAt(this.file, buffers, this.bytes, this.#syncing)
      if (written < size) throw Object.assign(new Error(`wrote ${written} of ${size} bytes`), { code: 'ENOSPC' })
    } catch (error) {
      await this.file.truncate(this.bytes).catch(() => {}) // the next write goes to the same place
      throw error
    }
    this.bytes += size
    this.dirty = true
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

/** Files of a folder that are segments, oldest first. @param {string[]} names */
export function segmentNames (names) {
  return names.filter(name => name.endsWith('.segment')).sort((a, b) => epochCounter(a) - epochCounter(b) || (a < b ? -1 : 1))
}

/** The persisted counter an epoch's name begins with. @param {string} epochOrFile */
export function epochCounter (epochOrFile) {
  return parseInt(basename(epochOrFile), 10)
}

/** @param {Record} record */
function frame ({ seq, rows, payload }) {
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt32LE(payload.length, 0)
  header.writeBigUInt64LE(BigInt(seq), 8)
  header.writeUInt32LE(rows, 16)
  header.writeUInt32LE(checksum(header, payload), 4)
  return [header, payload]
}

/** @param {Buffer} buffer  from the record's start; may hold more, or too little */
function parse (buffer) {
  const length = buffer.readUInt32LE(0)
  const payload = buffer.subarray(HEADER_BYTES, HEADER_BYTES + length)
  const damaged = payload.length < length || buffer.readUInt32LE(4) !== checksum(buffer, payload)
  return { seq: Number(buffer.readBigUInt64LE(8)), rows: buffer.readUInt32LE(16), payload, damaged }
}

/** @param {Buffer} header @param {Uint8Array} payload */
function checksum (header, payload) {
  return crc32(payload, crc32(header.subarray(8, HEADER_BYTES), header.readUInt32LE(0)))
}

/** Reads a segment's records one after another, a megabyte at a time. */
class Scanner {
  #chunk = Buffer.alloc(0)
  #chunkStart = 0

  /** @param {import('node:fs/promises').FileHandle} file @param {number} size */
  constructor (file, size) {
    this.file = file
    this.size = size
    this.position = 0
  }

  async next () {
    const record = await this.#at(this.position)
    if (record) this.position += HEADER_BYTES + record.length
    return record
  }

  /** Whether a whole record of this seq comes next: then what was before it is damage, not a torn end. @param {number} seq */
  async followedBy (seq) {
    const record = await this.#at(this.position)
    return record !== null && !record.damaged && record.seq === seq
  }

  /** @param {number} position */
  async #at (position) {
    const header = await this.#bytes(position, HEADER_BYTES)
    if (header.length < HEADER_BYTES) return null
    const length = header.readUInt32LE(0)
    if (length > MAX_RECORD || position + HEADER_BYTES + length > this.size) return null
    return { ...parse(await this.#bytes(position, HEADER_BYTES + length)), length }
  }

  /** @param {number} position @param {number} count */
  async #bytes (position, count) {
    if (position < this.#chunkStart || position + count > this.#chunkStart + this.#chunk.length) {
      const chunk = Buffer.allocUnsafe(Math.min(Math.max(count, SCAN_BYTES), this.size - position))
      const { bytesRead } = await this.file.read(chunk, 0, chunk.length, position)
      this.#chunk = chunk.subarray(0, bytesRead)
      this.#chunkStart = position
    }
    return this.#chunk.subarray(position - this.#chunkStart, position - this.#chunkStart + count)
  }
}
