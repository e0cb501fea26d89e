import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError } from '../../base/errors.js'

const SQLITE_BUSY = 5

/**
 * Makes this process the only one that writes in a folder. The lock is one of the operating system's (SQLite takes it, on every platform),
 * so it ends with the process however that ends; the pid beside it is only there to be named.
 * @param {string} folder  of the records
 * @returns {Promise<() => Promise<void>>} gives it back
 * @throws {SluiceError} SLUICE_SINK_FILE_LOCKED
 */
export async function lockFolder (folder) {
  const pidFile = join(folder, 'pid')
  const database = new DatabaseSync(join(folder, 'lock'))
  try {
    database.exec('BEGIN EXCLUSIVE')
    await writeFile(pidFile, `${process.pid}\n`)
  } catch (error) {
    database.close()
    if (/** @type {{errcode?: number}} */ (error).errcode !== SQLITE_BUSY) throw error
    const pid = (await readFile(pidFile, 'utf8').catch(() => 'unknown')).trim()
    throw new SluiceError('SLUICE_SINK_FILE_LOCKED', `Another process, ${pid}, writes in the folder "${join(folder, '..')}".`, { fix: 'Stop it, or give this sink a folder of its own.', cause: error })
  }
  return async () => {
    await rm(pidFile, { force: true })
    database.close()
  }
}
