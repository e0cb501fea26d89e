import { join } from 'node:path'
import { SluiceError } from '../base/errors.js'
import { lock } from '../base/lock.js'

/**
 * Makes this process the only gateway on a user folder.
 * @param {string} userDir
 * @returns {() => void} releases the folder
 * @throws {SluiceError} SLUICE_USER_DIR_IN_USE
 */
export function lockUserDir (userDir) {
  return lock(join(userDir, 'gateway.lock'), join(userDir, 'gateway.pid'), (pid, cause) => {
    return new SluiceError('SLUICE_USER_DIR_IN_USE', `Another gateway, process ${pid}, runs on ${userDir}.`, {
      fix: 'Stop it first, or give this one its own folder with --user-dir.', cause
    })
  })
}
