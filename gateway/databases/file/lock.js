import { join } from 'node:path'
import { SluiceError } from '../../base/errors.js'
import { lock } from '../../base/lock.js'

/**
 * Makes this process the only one that writes in a folder.
 * @param {string} folder  of the records
 * @returns {() => void} releases it
 * @throws {SluiceError} SLUICE_SINK_FILE_LOCKED
 */
export function lockFolder (folder) {
  return lock(join(folder, 'lock'), join(folder, 'pid'), (pid, cause) => {
    return new SluiceError('SLUICE_SINK_FILE_LOCKED', `Another process, ${pid}, writes in the folder "${join(folder, '..')}".`, {
      fix: 'Stop it, or give this sink a folder of its own.', cause
    })
  })
}
