import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describe } from '../base/errors.js'
import { PRIVATE_FOLDER, replaceFile } from '../base/files.js'

/** @typedef {import('./alarms.js').Kept} Kept */

/** Where alarms are kept that are raised, so that a restart forgets neither them nor who has seen them. Written only when they change. */
export class AlarmFile {
  #path
  #warn
  #isChanged
  #isTold = false
  /** @type {Promise<void>} */
  #saved = Promise.resolve()

  /** @param {string} path @param {(text: string) => void} warn */
  constructor (path, warn) {
    this.#path = path
    this.#warn = warn
    /** Null where there is none yet. */
    this.kept = this.#read()
    this.#isChanged = this.kept === null
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
    const text = `${JSON.stringify(kept())}\n`
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
    await replaceFile(this.#path, text)
    this.#isTold = false
  }

  /** @returns {Kept|null} */
  #read () {
    try {
      const { alarms, more, counts } = JSON.parse(readFileSync(this.#path, 'utf8'))
      if (!alarms.every(isAlarm)) throw new TypeError('what is there is no alarm')
      return { alarms, more: { ...more }, counts: { ...counts } }
    } catch (error) {
      const isMissing = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT'
      if (!isMissing) this.#warn(`The alarms of before are forgotten: ${describe(error)}`)
      return null
    }
  }
}

/** @param {any} kept */
function isAlarm (kept) {
  return [kept?.id, kept?.kind, kept?.subject?.name].every(text => typeof text === 'string') && Number.isFinite(kept.raisedMs)
}
