import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe } from '../base/errors.js'
import { PRIVATE_FOLDER, replaceFile } from '../base/files.js'
import { Reserve } from './reserve.js'

/** @typedef {import('./alarms.js').Kept} Kept */

/** Where alarms are kept that are raised, so that a restart forgets neither them nor who has seen them. Written only when they change. */
export class AlarmFile {
  #path
  #reserve
  #warn
  #isChanged
  #isTold = false
  /** @type {Promise<void>} */
  #saved = Promise.resolve()

  /** @param {string} path @param {(text: string) => void} warn */
  constructor (path, warn) {
    this.#path = path
    this.#reserve = new Reserve(`${path}.reserve`)
    this.#warn = warn
    const reserved = this.#reserve.read()
    /** Null where there is none yet. */
    this.kept = reserved && keptIn(reserved) || this.#read()
    this.#isChanged = this.kept === null || reserved !== ''
  }

  changed () { this.#isChanged = true }

  /**
   * What has changed; what cannot be written is written later.
   * @param {() => Kept} kept
   * @returns {Promise<void>} once it is written, or could not be
   */
  save (kept) {
    if (!this.#isChanged) return this.#saved
    this.#isChanged = false
    const text = JSON.stringify(kept())
    this.#saved = this.#saved.then(() => this.#write(text)).catch(error => {
      this.#isChanged = true
      if (!this.#isTold) this.#warn(`Alarms cannot be kept over a restart: ${describe(error)}`)
      this.#isTold = true
    })
    return this.#saved
  }

  /** @param {string} text */
  async #write (text) {
    await mkdir(dirname(this.#path), { mode: PRIVATE_FOLDER }).catch(error => { if (error.code !== 'EEXIST') throw error })
    try {
      await replaceFile(this.#path, `${text}\n`)
    } catch (error) { // a full disk is when there are alarms
      await this.#reserve.put(text).catch(() => { throw error })
      this.#isChanged = true
      return
    }
    this.#isTold = false
    await this.#reserve.clear().catch(() => {}) // it may be for lack of room; the next time then
  }

  /** @returns {Kept|null} */
  #read () {
    try {
      return parse(readFileSync(this.#path, 'utf8'))
    } catch (error) {
      const isMissing = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT'
      if (!isMissing) this.#warn(`The alarms of before are forgotten: ${describe(error)}`)
      return null
    }
  }
}

/** @param {string} text @returns {Kept} */
function parse (text) {
  const { alarms, more, counts } = JSON.parse(text)
  if (!alarms.every(isAlarm)) throw new TypeError('what is there is no alarm')
  return { alarms, more: { ...more }, counts: { ...counts } }
}

/** What is whole of the reserve. @param {string} text @returns {Kept|null} */
function keptIn (text) {
  try {
    return parse(text)
  } catch {
    return null // begun when the process ended: the file has what was before
  }
}

/** @param {any} kept */
function isAlarm (kept) {
  return [kept?.id, kept?.kind, kept?.subject?.name].every(text => typeof text === 'string') && Number.isFinite(kept.raisedMs)
}
