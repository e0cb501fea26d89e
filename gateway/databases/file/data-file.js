import { open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, writeAll } from '../../base/files.js'
import { formats } from './formats.js'

/**
 * @typedef {import('./journal.js').Entry} Entry
 * @typedef {import('node:fs/promises').FileHandle} FileHandle
 */

/** An unfinished data file, opened when it is first written to. Rows are in it once the journal says so. */
export class DataFile {
  #path
  #index
  /** @type {FileHandle|null} */
  #file = null
  /** Bytes of the file, committed or not, without its tail. */
  #bytes
  #isIndexed = false
  /** Of the tail that follows them; null while there is none. @type {number|null} */
  #tailBytes = null

  /** @param {string} folder @param {Entry} entry */
  constructor (folder, entry) {
    this.entry = entry
    this.#path = join(folder, entry.name)
    this.#index = formats[entry.format].index?.()
    this.#bytes = entry.length
  }

  get bytes () { return this.#bytes }

  /** Whether it is time to finish it. */
  get isDue () { return this.entry.dueMs !== null && this.entry.dueMs <= Date.now() }

  /** Creates it, empty. @throws where a file of that name exists */
  async create () {
    this.#file = await open(this.#path, 'wx+')
    this.#isIndexed = true
    await syncFolder(this.#path)
  }

  /** Whether the file is as it was left, and not moved, deleted or changed by others. */
  async isIntact () {
    const [found, own] = await Promise.all([stat(this.#path).catch(() => null), this.#file?.stat()])
    if (found?.size !== this.#bytes + (this.#tailBytes ?? 0)) return false
    return !own || (found.ino === own.ino && found.dev === own.dev)
  }

  /** @param {Buffer[]} buffers */
  async append (buffers) {
    const file = await this.#opened()
    if (this.#tailBytes !== null) {
      await file.truncate(this.#bytes)
      this.#tailBytes = null
    }
    for (const buffer of buffers) {
      await writeAll(file, buffer, this.#bytes)
      this.#index?.add(this.#bytes, buffer)
      this.#bytes += buffer.length
    }
  }

  async sync () {
    await this.#file?.datasync()
  }

  /** Turns it into a whole file of its format, to which more can still be appended. */
  async complete () {
    if (!this.#index || this.#tailBytes !== null) return
    const file = await this.#opened()
    const tail = this.#index.tail()
    await writeAll(file, tail, this.#bytes)
    this.#tailBytes = tail.length
    await file.datasync()
  }

  async close () {
    await this.#file?.close()
    this.#file = null
  }

  async #opened () {
    if (this.#file) return this.#file
    this.#file = await open(this.#path, 'r+')
    if (!this.#isIndexed) await this.#index?.read(this.#file, this.#bytes)
    this.#isIndexed = true
    return this.#file
  }
}

/**
 * Brings a data file back to its last commit.
 * @param {string} folder
 * @param {Entry} entry
 * @returns {Promise<'as it was'|'empty'|'gone'|'shorter'>} `empty`: it has been removed; one that is gone or shorter was deleted or changed
 *   by others
 */
export async function restore (folder, { name, length }) {
  const path = join(folder, name)
  const found = await stat(path).catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (length === 0) {
    if (found) await unlink(path)
    return 'empty'
  }
  if (!found) return 'gone'
  if (found.size < length) return 'shorter'
  if (found.size > length) await cutOff(path, length)
  return 'as it was'
}

/**
 * Truncates a file so that it stays so after a power cut, when the journal may list it as finished.
 * @param {string} path
 * @param {number} length
 */
async function cutOff (path, length) {
  const file = await open(path, 'r+')
  try {
    await file.truncate(length)
    await file.datasync()
  } finally {
    await file.close()
  }
}
