import { accessSync, constants, createReadStream, statSync } from 'node:fs'
import { describe, SluiceError } from '../../base/errors.js'

/** The bytes of a CAN log. @param {string} path @returns {AsyncGenerator<Uint8Array, void>} */
export async function * readLog (path) {
  try {
    yield * createReadStream(path)
  } catch (cause) {
    throw unreadable(path, describe(cause), cause)
  }
}

/** @param {string} path @throws {SluiceError} SLUICE_REPLAY_FILE */
export function refuseNoFile (path) {
  let isDirectory
  try {
    accessSync(path, constants.R_OK)
    isDirectory = statSync(path).isDirectory()
  } catch (cause) {
    throw unreadable(path, describe(cause), cause)
  }
  if (isDirectory) throw unreadable(path, 'it is a folder')
}

/** @param {string} path */
export function emptyLog (path) {
  return new SluiceError('SLUICE_REPLAY_EMPTY', `${path} holds no CAN frame.`, { fix: 'Record one with candump -l.' })
}

/** @param {string} path @param {string} reason @param {unknown} [cause] */
function unreadable (path, reason, cause) {
  return new SluiceError('SLUICE_REPLAY_FILE', `The CAN log ${path} cannot be read: ${reason}.`, { cause, fix: 'Check the path and its permissions.' })
}
