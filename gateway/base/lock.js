import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { namingDisk } from './disk-full.js'
import { PRIVATE_FILE } from './files.js'

const SQLITE_BUSY = 5

/**
 * Locks a file for this process. The lock is one of the operating system's (SQLite takes it, on every platform), so it ends with the
 * process however that ends; the file with the pid beside it only names the process to others.
 * @param {string} lockFile
 * @param {string} pidFile
 * @param {(pid: string, cause: unknown) => Error} inUse  what is thrown when another process has the lock
 * @returns {() => void} unlocks it
 */
export function lock (lockFile, pidFile, inUse) {
  closeSync(openSync(lockFile, 'a', PRIVATE_FILE))
  const database = new DatabaseSync(lockFile)
  try {
    database.exec('BEGIN EXCLUSIVE')
    writeFileSync(pidFile, `${process.pid}\n`, { mode: PRIVATE_FILE })
  } catch (error) {
    database.close()
    if (/** @type {{errcode?: number}} */ (error).errcode !== SQLITE_BUSY) throw namingDisk(error, dirname(lockFile))
    throw inUse(pidIn(pidFile), error)
  }
  return () => {
    rmSync(pidFile, { force: true })
    database.close()
  }
}

/** @param {string} file */
function pidIn (file) {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
