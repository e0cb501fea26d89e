import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from './errors.js'

/**
 * Makes this process the only gateway on a user folder. The lock is one of the operating system's (SQLite takes it, on every platform),
 * so it ends with the process however that ends; the pid beside it is only there to be named.
 * @param {string} userDir
 * @returns {() => void} gives the folder back
 * @throws {SluiceError} SLUICE_USER_DIR_IN_USE
 */
export function lockUserDir (userDir) {
  const pidFile = join(userDir, 'gateway.pid')
  const database = new DatabaseSync(join(userDir, 'gateway.lock'))
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (/** @type {{errcode?: number}} */ (error).errcode !== SQLITE_BUSY) throw error
    throw new SluiceError('SLUICE_USER_DIR_IN_USE', `Another gateway, process ${pidIn(pidFile)}, runs on ${userDir}.`,
      { fix: 'Stop it first, or give this one its own folder with --user-dir.', cause: error })
  }
  writeFileSync(pidFile, `${process.pid}\n`)
  return () => {
    rmSync(pidFile, { force: true })
    database.close()
  }
}

const SQLITE_BUSY = 5

/** @param {string} file */
function pidIn (file) {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
