import { readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { PRIVATE_FILE, writeAll } from '../base/files.js'

/** More than alarms usually take, and little of a disk. */
const BYTES = 32 * 1024

/**
 * Room on the disk for when there is no other: a file that was written while there was some, and is overwritten in place. Spaces are
 * nothing; what a power cut leaves half written is no JSON.
 */
export class Reserve {
  #path
  /** What it has; null where that is not known. @type {string|null} */
  #text = null

  /** @param {string} path */
  constructor (path) {
    this.#path = path
  }

  /** Empty where it has nothing; null where there is none yet. */
  read () {
    try {
      return readFileSync(this.#path, 'utf8').trim()
    } catch {
      return null
    }
  }

  /** @param {string} text  at most so many bytes as are reserved */
  async put (text) {
    if (text === this.#text) return
    const bytes = Buffer.alloc(BYTES, ' ')
    if (bytes.write(text) < Buffer.byteLength(text)) throw new RangeError(`more than ${BYTES} bytes`)
    await this.#write('r+', bytes)
    this.#text = text
  }

  /** There is room elsewhere: it has nothing any more, and is made where there is none. */
  async clear () {
    try {
      await this.put('')
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
      await this.#write('wx', Buffer.alloc(BYTES, ' ')).catch(async failure => {
        await rm(this.#path, { force: true })
        throw failure
      })
    }
  }

  /** @param {string} flags @param {Uint8Array} bytes */
  async #write (flags, bytes) {
    const file = await open(this.#path, flags, PRIVATE_FILE)
    try {
      await writeAll(file, bytes, 0)
      await file.datasync()
    } finally {
      await file.close()
    }
  }
}
