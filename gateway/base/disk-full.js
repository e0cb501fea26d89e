import { SluiceError } from './errors.js'

const SQLITE_FULL = 13
const CODES = ['ENOSPC', 'EDQUOT']

/** Whether that is why something failed, in the words of the system or of SQLite. @param {unknown} error @returns {boolean} */
export function isDiskFull (error) {
  const { code = '', errcode, cause } = /** @type {{code?: string, errcode?: number, cause?: unknown}} */ (error)
  // What SQLite adds to its codes is in the higher bits.
  return CODES.includes(code) || errcode !== undefined && (errcode & 0xff) === SQLITE_FULL || cause instanceof Error && isDiskFull(cause)
}

/** @param {string} folder @param {unknown} cause */
export function diskFull (folder, cause) {
  return new SluiceError('SLUICE_DISK_FULL', `The disk of ${folder} is full.`, {
    cause, fix: 'Make room on it and try again: sluice doctor shows what is left and what the spools take. Nothing that is stored is lost.'
  })
}
