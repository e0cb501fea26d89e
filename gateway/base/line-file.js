import { crc32 } from 'node:zlib'
import { open, rename } from 'node:fs/promises'
import { PRIVATE_FILE, syncFolder, writeAll } from './files.js'

/**
 * An append-only file of checksummed JSON lines:
 *
 *     line := crc32 of the JSON, 8 hexadecimal digits; space; JSON; newline
 *
 * What `append` has resolved for survives a power cut; a line half written when the process was killed is cut off on the next open.
 */
const CHECKSUM_CHARS = 9
const READ_BYTES = 1 << 20
const NEWLINE = 10

/** What it holds is only for the user that the gateway runs as. */

/** @typedef {{offset: number, length: number}} Place  of a line in the file, in bytes, newline included */

export class LineFile {
  #file
  /** bytes of whole lines */
  bytes = 0
  /** bytes cut off at the end when it was opened */
  tornBytes = 0
  /** lines within the file that are not what was written */
  damaged = 0

  /** @param {string} path @param {import('node:fs/promises').FileHandle} file */
  constructor (path, file) {
    this.path = path
    this.#file = file
  }

  /**
   * @param {string} path  created when missing, unless it is only read
   * @param {(value: any, place: Place) => void} onLine  called for each good line
   * @param {{readOnly?: boolean}} [options]  to read while another process writes: nothing is cut off
   */
  static async open (path, onLine, { readOnly = false } = {}) {
    const lines = new LineFile(path, await openOrCreate(path, readOnly))
    try {
      const size = await lines.#scan(onLine)
      lines.tornBytes = size - lines.bytes
      if (lines.tornBytes > 0 && !readOnly) {
        await lines.#file.truncate(lines.bytes)
        await lines.#file.datasync()
      }
      return lines
    } catch (error) {
      await lines.close()
      throw error
    }
  }

  /**
   * @param {object[]} values
   * @returns {Promise<Place[]>} once they are on the disk; rejects with the file as it was before
   */
  async append (values) {
    const { data, places } = encode(values, this.bytes)
    try {
      await writeAll(this.#file, data, this.bytes)
      await this.#file.datasync()
    } catch (error) {
      await this.#file.truncate(this.bytes).catch(() => {}) // the next write goes to the same place
      throw error
    }
    this.bytes += data.length
    return places
  }

  /** @param {Place} place @returns {Promise<any>} undefined where the line is not what was written */
  async read ({ offset, length }) {
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await this.#file.read(buffer, 0, length, offset)
    return decode(buffer.subarray(0, Math.max(0, bytesRead - 1)))
  }

  /**
   * Replaces all lines: after a crash, either the old file is there or the new one.
   * @param {AsyncIterable<object[]>} pages
   * @param {(value: any, place: Place) => void} onLine
   * @returns {Promise<LineFile>} this one is closed
   */
  async replace (pages, onLine) {
    const temporary = `${this.path}.new`
    const file = await open(temporary, 'w+', PRIVATE_FILE)
    const lines = new LineFile(this.path, file)
    try {
      for await (const values of pages) {
        const { data, places } = encode(values, lines.bytes)
        await writeAll(file, data, lines.bytes)
        lines.bytes += data.length
        values.forEach((value, i) => onLine(value, places[i]))
      }
      await file.datasync()
      await rename(temporary, this.path)
      await syncFolder(this.path)
    } catch (error) {
      await file.close()
      throw error
    }
    await this.close()
    return lines
  }

  close () { return this.#file.close() }

  /** @param {(value: any, place: Place) => void} onLine @returns {Promise<number>} size of the file */
  async #scan (onLine) {
    let rest = Buffer.alloc(0)
    let offset = 0
    let suspect = 0
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(READ_BYTES)
      const { bytesRead } = await this.#file.read(chunk, 0, READ_BYTES, position)
      if (bytesRead === 0) return position
      position += bytesRead
      rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
      let start = 0
      for (let end; (end = rest.indexOf(NEWLINE, start)) !== -1; start = end + 1) {
        const value = decode(rest.subarray(start, end))
        const length = end + 1 - start
        if (value === undefined) suspect++
        else {
          this.damaged += suspect
          suspect = 0
          onLine(value, { offset, length })
          this.bytes = offset + length
        }
        offset += length
      }
      rest = rest.subarray(start)
    }
  }
}

/** @param {string} path @param {boolean} readOnly */
async function openOrCreate (path, readOnly) {
  try {
    return await open(path, readOnly ? 'r' : 'r+')
  } catch (error) {
    if (readOnly || /** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    const file = await open(path, 'wx+', PRIVATE_FILE)
    await syncFolder(path)
    return file
  }
}

/** @param {object[]} values @param {number} start */
function encode (values, start) {
  let offset = start
  const lines = values.map(value => {
    const json = Buffer.from(JSON.stringify(value))
    return Buffer.concat([Buffer.from(`${crc32(json).toString(16).padStart(8, '0')} `), json, Buffer.from('\n')])
  })
  const places = lines.map(({ length }) => {
    offset += length
    return { offset: offset - length, length }
  })
  return { data: Buffer.concat(lines), places }
}

/** @param {Buffer} line  without its newline @returns {any} undefined when it is damaged */
function decode (line) {
  const json = line.subarray(CHECKSUM_CHARS)
  if (line.length < CHECKSUM_CHARS || parseInt(line.toString('latin1', 0, CHECKSUM_CHARS - 1), 16) !== crc32(json)) return undefined
  return JSON.parse(json.toString())
}
