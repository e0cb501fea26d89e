import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, SluiceError } from '../base/errors.js'
import { makePrivateFolder, PRIVATE_FILE, replaceFile, writeAll } from '../base/files.js'
import { blocksIn } from './blocks.js'
import { DAY_MS, HOUR_MS, nameOfDay, nameOfHour } from './spans.js'

/**
 * @typedef {import('./blocks.js').Block} Block
 * @typedef {'minutes'|'hour'|'day'} Kind
 * @typedef {{kind: Kind, name: string, hour: number, day: number}} File  `hour`: of a day its first; since 1970
 */

export const MAX_BYTES = 64 * 2 ** 20
const FILE = /^(\d{4}-\d\d-\d\d)(?:T(\d\d)\.(minutes|hour)|\.(day))$/
/** What the whole process lacks: a file is not damaged because it could not be opened then. */
const SCARCE = ['EMFILE', 'ENFILE', 'ENOMEM']
const DAMAGED = '.damaged'
/** Of what is set aside, for whoever wants to know why. */
const MAX_DAMAGED = 3

/**
 * The files of the history. By name, all sort by the time that they begin with:
 *
 * - `2026-11-23T12.minutes` grows by a block a minute; when the hour is over, all of it is written again as
 * - `2026-11-23T12.hour`, which is a third of that; a day later it becomes a part of
 * - `2026-11-23.day`, in steps of five minutes.
 */
export class Folder {
  /** @type {Map<string, number>} bytes, by name; what is set aside, too */
  #sizes = new Map()
  #path
  #log
  #maxBytes
  /** How much was written since this was opened. */
  writtenBytes = 0

  /** @param {string} path @param {Pick<import('../base/log.js').Log, 'warn'>} [log] @param {number} [maxBytes]  of all */
  constructor (path, log, maxBytes = MAX_BYTES) {
    this.#path = path
    this.#log = log
    this.#maxBytes = maxBytes
  }

  /** Looks what there is. */
  async open () {
    for (const name of await readdir(this.#path).catch(() => [])) {
      if (!FILE.test(name) && !name.endsWith(DAMAGED)) continue
      const size = await stat(join(this.#path, name)).then(({ size: bytes }) => bytes, () => null)
      if (size !== null) this.#sizes.set(name, size)
    }
    await this.dropOldest(name => name.endsWith(DAMAGED), MAX_DAMAGED)
  }

  get bytes () { return [...this.#sizes.values()].reduce((sum, bytes) => sum + bytes, 0) }

  /** Oldest first. @returns {File[]} */
  get files () { return [...this.#sizes.keys()].sort().flatMap(name => fileOf(name) ?? []) }

  /** @param {string} name */
  has (name) { return this.#sizes.has(name) }

  /**
   * What is damaged is set aside, and what is whole in it is given once.
   * @param {string} name
   * @returns {Promise<Block[]>} none of what is not there
   */
  async read (name) {
    const bytes = this.#sizes.get(name)
    if (bytes === undefined) return []
    if (bytes > this.#maxBytes) {
      await this.#setAside(name, { what: `has ${bytes} bytes, more than all may have together` })
      return []
    }
    let file
    try {
      file = await readFile(join(this.#path, name))
    } catch (error) {
      const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
      if (SCARCE.includes(code)) throw error
      if (code !== 'ENOENT') await this.#setAside(name, { cause: error })
      this.#sizes.delete(name)
      return []
    }
    const { blocks, end, isDamaged } = blocksIn(file)
    const mayBeBegun = name.endsWith('.minutes')
    if (isDamaged || !mayBeBegun && (end < file.length || end === 0)) await this.#setAside(name)
    else this.#sizes.set(name, end)
    return blocks
  }

  /** @param {number} hour @param {Buffer} block */
  async append (hour, block) {
    const name = `${nameOfHour(hour)}.minutes`
    await this.#makeRoom(block.length, name)
    await makePrivateFolder(this.#path)
    const file = await openOrMake(join(this.#path, name))
    try {
      const size = Math.min(this.#sizes.get(name) ?? 0, (await file.stat()).size) // somebody may have removed it
      await file.truncate(size) // what was begun before
      await writeAll(file, block, size)
      this.#written(name, size + block.length, block.length)
    } finally {
      await file.close()
    }
  }

  /** @param {Exclude<Kind, 'minutes'>} kind @param {number} index  of the hour or day @param {Buffer} block */
  async replace (kind, index, block) {
    const name = `${kind === 'day' ? nameOfDay(index) : nameOfHour(index)}.${kind}`
    await this.#makeRoom(block.length, name)
    await makePrivateFolder(this.#path)
    await replaceFile(join(this.#path, name), block)
    this.#written(name, block.length, block.length)
  }

  /** @param {string} name */
  async remove (name) {
    await rm(join(this.#path, name), { force: true })
    this.#sizes.delete(name)
  }

  /** Of these, only the newest stay. @param {(name: string) => boolean} isOne @param {number} count */
  async dropOldest (isOne, count) {
    const names = [...this.#sizes.keys()].filter(isOne).sort()
    for (const name of names.slice(0, Math.max(0, names.length - count))) await this.remove(name)
  }

  /** The oldest go first. @param {number} bytes  to be written @param {string} spared */
  async #makeRoom (bytes, spared) {
    for (const name of [...this.#sizes.keys()].sort()) {
      if (this.bytes + bytes <= this.#maxBytes) return
      if (name !== spared) await this.remove(name)
    }
  }

  /** @param {string} name @param {number} size @param {number} bytes */
  #written (name, size, bytes) {
    this.#sizes.set(name, size)
    this.writtenBytes += bytes
  }

  /** @param {string} name @param {{what?: string, cause?: unknown}} [why] */
  async #setAside (name, { what = 'is damaged', cause } = {}) {
    const error = new SluiceError('SLUICE_HISTORY_DAMAGED', `The file ${name} of the history ${what}, and is set aside.`, {
      cause, fix: `Nothing: ${this.#path} has it as ${name}${DAMAGED}. If it happens again, look after the disk.`
    })
    this.#log?.warn(describe(error))
    const size = this.#sizes.get(name) ?? 0
    this.#sizes.delete(name)
    const isAside = await rename(join(this.#path, name), join(this.#path, name + DAMAGED)).then(() => true, () => false)
    if (isAside) this.#sizes.set(name + DAMAGED, size)
    await this.dropOldest(each => each.endsWith(DAMAGED), MAX_DAMAGED)
  }
}

/** @param {string} name @returns {File|null} */
function fileOf (name) {
  const [, date, hours, kind = 'day'] = FILE.exec(name) ?? []
  if (!date) return null
  const ms = Date.parse(`${date}T${hours ?? '00'}:00:00Z`)
  return { name, kind: /** @type {Kind} */ (kind), hour: ms / HOUR_MS, day: Math.floor(ms / DAY_MS) }
}

/** @param {string} path */
async function openOrMake (path) {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    return open(path, 'wx', PRIVATE_FILE)
  }
}
