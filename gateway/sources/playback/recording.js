import { accessSync, constants, createReadStream, statSync } from 'node:fs'
import { describe } from '../../base/errors.js'

/**
 * The file of a recording.
 *
 * @typedef {(reason: string, cause?: unknown) => import('../../base/errors.js').SluiceError} Unreadable  the error of a file that cannot be
 *   read
 */

/** @param {string} path @param {Unreadable} unreadable  what it throws */
export function refuseUnreadable (path, unreadable) {
  let isDirectory
  try {
    accessSync(path, constants.R_OK)
    isDirectory = statSync(path).isDirectory()
  } catch (cause) {
    throw unreadable(describe(cause), cause)
  }
  if (isDirectory) throw unreadable('it is a folder')
}

/** @param {string} path @param {Unreadable} unreadable  what it throws @returns {AsyncGenerator<Buffer, void>} */
export async function * bytesOf (path, unreadable) {
  try {
    yield * createReadStream(path)
  } catch (cause) {
    throw unreadable(describe(cause), cause)
  }
}
