import { SluiceError } from './errors.js'

const SQLITE_FULL = 13
const CODES = ['ENOSPC', 'EDQUOT']

/** Whether that is why something failed, in the words of the system or of SQLite. @param {unknown} error @returns {boolean} */
export function isDiskFull (error) {
  if (error instanceof SluiceError) return false // it says already what is wrong
  const { code = '', errcode, cause } = /** @type {{code?: string, errcode?: number, cause?: unknown}} */ (error)
  // What SQLite adds to its codes is in the higher bits.
  return CODES.includes(code) || errcode !== undefined && (errcode & 0xff) === SQLITE_FULL || cause instanceof Error && isDiskFull(cause)
}

/**
 * An error as it is, or, where a full disk is behind it, one that says so.
 * @param {unknown} error
 * @param {string} folder  on that disk
 */
export function namingDisk (error, folder) {
  if (!isDiskFull(error)) return error
  return new SluiceError('SLUICE_DISK_FULL', `The disk of ${folder} is full.`, {
    cause: error, fix: 'Make room on it, then start again, or deploy: sluice doctor shows what is left and what the spools take.'
  })
}
