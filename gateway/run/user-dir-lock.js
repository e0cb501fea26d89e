import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, SluiceError } from '../base/errors.js'
import { PRIVATE_FOLDER } from '../base/files.js'
import { lock } from '../base/lock.js'

const REFUSED = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']

/**
 * Makes this process the only gateway on a user folder.
 * @param {string} userDir  made when missing
 * @returns {() => void} releases the folder
 * @throws {SluiceError} SLUICE_USER_DIR_IN_USE, SLUICE_USER_DIR
 */
export function lockUserDir (userDir) {
  const folder = resolve(userDir)
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
    return lock(join(folder, 'gateway.lock'), join(folder, 'gateway.pid'), (pid, cause) => {
      return new SluiceError('SLUICE_USER_DIR_IN_USE', `Another gateway, process ${pid}, runs on ${userDir}.`, {
        fix: 'Stop it first, or give this one its own folder with --user-dir.', cause
      })
    })
  } catch (error) {
    throw namingUserDir(error, folder)
  }
}

/**
 * An error as it is, or, where a file of the user folder refuses this user, one that says so.
 * @param {unknown} error
 * @param {string} userDir
 */
export function namingUserDir (error, userDir) {
  const { code = '', path = '' } = /** @type {NodeJS.ErrnoException} */ (error)
  if (!REFUSED.includes(code) || !path.startsWith(userDir)) return error
  return new SluiceError('SLUICE_USER_DIR', `The data folder ${userDir} cannot be used by this user: ${describe(error)}.`, {
    fix: 'Give it, and all in it, to the user that the gateway runs as (chown -R), or name another with --user-dir.', cause: error
  })
}
