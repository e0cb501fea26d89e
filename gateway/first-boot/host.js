import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { namingDisk } from '../base/disk-full.js'
import { describe, SluiceError } from '../base/errors.js'
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
  /** Whether what belongs to a file that is as it is to be may yet have to be done. */
  isUnfinished = false

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
      throw new SluiceError('SLUICE_FIRST_BOOT', `${path} cannot be read: ${describe(error)}.`, {
        fix: 'Check the disk that it is on.', cause: error
      })
    })
  }

  /**
   * @param {string} path
   * @param {string|null} text  null removes it
   * @param {number} [mode]
   * @returns {Promise<boolean>} whether it was another, so that what belongs to it is to be done
   */
  async write (path, text, mode = PUBLIC_FILE) {
    if (await this.readIfThere(path) === text) return this.isUnfinished
    try {
      if (text === null) {
        await rm(this.at(path))
      } else {
        await makeFolder(dirname(this.at(path)))
        await replaceFile(this.at(path), text, mode)
      }
    } catch (error) {
      throw namingDisk(error, this.folder)
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
