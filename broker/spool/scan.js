import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { hashOf } from '../../gateway/batch/hashes.js'
import { HEADER_BYTES, Headers, KEY_BYTES, PREAMBLE_BYTES, VERSION, readPreamble } from './record.js'

const CHUNK_BYTES = 1 << 20
/** What a disk loses at once. */
const SECTOR_BYTES = 4096

/**
 * @typedef {import('./record.js').Header} Header
 * @typedef {{header: Header, offset: number, payload: Buffer, isDamaged: boolean}} Found  a record, whose payload may be damaged
 * @typedef {{from: number, to: number, isTorn: boolean}} Hole  bytes between records; torn: the end of a file whose write was not finished
 */

/**
 * Reads what an earlier process left in a segment file, which may have died at any point and lain on a bad disk: all records that can be
 * found, and what lies between them. Changes nothing.
 */
export class Scan {
  #chunk = Buffer.alloc(0)
  #chunkStart = 0
  /** Some of it cannot be read. */
  #isFailing = false
  /** @type {Headers} */
  #headers

  /**
   * @param {import('node:fs/promises').FileHandle} file
   * @param {number} size
   * @param {Buffer} key
   * @param {number} version
   * @param {number} createdMs
   */
  constructor (file, size, key, version, createdMs) {
    this.file = file
    this.size = size
    this.key = key
    this.version = version
    this.createdMs = createdMs
    this.#headers = new Headers(key)
  }

  /** Whether this program can read it. */
  get isKnown () { return this.version === VERSION }

  /** @param {string} path */
  static async open (path) {
    const file = await open(path, 'r')
    try {
      const { size, mtimeMs } = await file.stat()
      const preamble = readPreamble(await readRange(file, 0, Math.min(size, PREAMBLE_BYTES)))
      const { key, version, createdMs } = preamble ?? { key: keyInName(path), version: VERSION, createdMs: mtimeMs }
      return new Scan(file, size, key, version, createdMs)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** @returns {AsyncGenerator<{found: Found, hole?: undefined}|{hole: Hole, found?: undefined}>} payloads are valid until the next */
  async * items () {
    let position = PREAMBLE_BYTES
    while (position < this.size) {
      const bytes = await this.#bytes(position, HEADER_BYTES)
      const header = this.#headers.read(bytes) ?? this.#headers.repair(bytes)
      const end = header ? position + HEADER_BYTES + header.length : 0
      if (header && end <= this.size) {
        const payload = (await this.#bytes(position, HEADER_BYTES + header.length)).subarray(HEADER_BYTES)
        yield { found: { header, offset: position, payload, isDamaged: hashOf(payload) !== header.hash } }
        position = end
        continue
      }
      const next = await this.#search(position + 1)
      const isTorn = next === this.size && (header !== null || await this.#isUnfinished(position)) && !this.#isFailing
      yield { hole: { from: position, to: next, isTorn } }
      position = next
    }
  }

  close () { return this.file.close() }

  /** Where the next record begins; the end of the file where there is none. @param {number} from */
  async #search (from) {
    const { marker } = this.#headers
    for (let position = from; position + HEADER_BYTES <= this.size;) {
      const bytes = await this.#bytes(position, Math.min(CHUNK_BYTES, this.size - position))
      const at = bytes.indexOf(marker)
      if (at === -1) {
        position += bytes.length - marker.length + 1
        continue
      }
      const header = this.#headers.read(await this.#bytes(position + at, HEADER_BYTES))
      if (header && position + at + HEADER_BYTES + header.length <= this.size) return position + at
      position += at + 1
    }
    return this.size
  }

  /**
   * Whether the file ends like a write that was cut short: within a header, or in blanks that the file system had reserved.
   * @param {number} from
   */
  async #isUnfinished (from) {
    const rest = await this.#bytes(from, Math.min(HEADER_BYTES, this.size - from))
    if (rest.length < HEADER_BYTES && rest.indexOf(this.#headers.marker.subarray(0, rest.length)) === 0) return true
    for (let position = from; position < this.size; position += CHUNK_BYTES) {
      const bytes = await this.#bytes(position, Math.min(CHUNK_BYTES, this.size - position))
      if (bytes.some(byte => byte !== 0)) return false
    }
    return true
  }

  /** @param {number} position @param {number} count */
  async #bytes (position, count) {
    if (position < this.#chunkStart || position + count > this.#chunkStart + this.#chunk.length) {
      this.#chunk = await readRange(this.file, position, Math.min(Math.max(count, CHUNK_BYTES), this.size - position), () => {
        this.#isFailing = true
      })
      this.#chunkStart = position
    }
    return this.#chunk.subarray(position - this.#chunkStart, position - this.#chunkStart + count)
  }
}

/** The number, which is their order, and the key in a segment's file name; null where it is none. @param {string} path */
export function parseSegmentName (path) {
  const match = /^(\d{12})\.([0-9a-f]{16})\.segment$/.exec(basename(path))
  return match && { number: Number(match[1]), key: Buffer.from(match[2], 'hex') }
}

/** @param {number} number @param {Buffer} key */
export function segmentName (number, key) {
  return `${String(number).padStart(12, '0')}.${key.toString('hex')}.segment`
}

/** @param {string} path */
function keyInName (path) {
  return parseSegmentName(path)?.key ?? Buffer.alloc(KEY_BYTES)
}

/**
 * What can be read; sectors that cannot are blank.
 * @param {import('node:fs/promises').FileHandle} file
 * @param {number} position
 * @param {number} count
 * @param {() => void} [onFailure]
 */
async function readRange (file, position, count, onFailure) {
  const buffer = Buffer.alloc(count)
  try {
    const { bytesRead } = await file.read(buffer, 0, count, position)
    return buffer.subarray(0, bytesRead)
  } catch {
    onFailure?.()
    for (let at = 0; at < count;) {
      const length = Math.min(SECTOR_BYTES - (position + at) % SECTOR_BYTES, count - at)
      await file.read(buffer, at, length, position + at).catch(() => {}) // that is a hole, which is counted
      at += length
    }
    return buffer
  }
}
