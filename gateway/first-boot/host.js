import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder, replaceFile } from '../base/files.js'

/** On the boot partition. */
export const SETTINGS_FILE = 'sluice.toml'
/** What is made once. Root owns it, and it is never on a root that forgets. */
export const STATE = '/opt/sluice/first-boot'
/** Begins each file that is written whole. */
export const NOTICE = '# From sluice.toml on the boot partition: what is changed here is undone at the next start.'
/** What everybody on the machine may read. */
const PUBLIC_FILE = 0o644

/**
 * Runs a program that changes the machine.
 * @typedef {(program: string, ...args: string[]) => Promise<void>} Run
 */

/** Files below a folder, by their paths there. They are written only where they are to be other than they are. */
export class Files {
  /** @param {string} folder */
  constructor (folder) {
    this.folder = folder
  }

  /** @param {string} path */
  at (path) {
    return join(this.folder, path)
  }

  /** Empty where there is none. @param {string} path */
  async read (path) {
    return await this.readIfThere(path) ?? ''
  }

  /** @param {string} path */
  async readIfThere (path) {
    return readFile(this.at(path), 'utf8').catch(error => {
      if (error.code === 'ENOENT') return null
      throw error
    })
  }

  /**
   * @param {string} path
   * @param {string|null} text  null removes it
   * @param {number} [mode]
   * @returns {Promise<boolean>} whether it was another
   */
  async write (path, text, mode = PUBLIC_FILE) {
    if (await this.readIfThere(path) === text) return false
    if (text === null) {
      await rm(this.at(path))
    } else {
      await makeFolder(dirname(this.at(path)))
      await replaceFile(this.at(path), text, mode)
    }
    return true
  }
}

/**
 * The machine that is set up.
 * @typedef {object} Host
 * @property {Files} root
 * @property {Files} boot  the FAT partition
 * @property {Run} run
 * @property {() => void} needsRestart  to be called when something holds only after a restart of the machine
 * @property {(text: string) => void} done  notes what is set up now, in words for the report, and with no secret
 * @property {(error: unknown) => void} wrong  notes what is not, and why
 * @property {<Result>(act: () => Promise<Result>) => Promise<Result|undefined>} step  notes what it throws
 */
