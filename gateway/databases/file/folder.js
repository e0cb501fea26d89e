import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeFolder, makePrivateFolder } from '../../base/files.js'
import { describe, SluiceError } from '../../base/errors.js'
import { isRefusal } from '../refusal.js'
import { DataFile, restore } from './data-file.js'
import { formats } from './formats.js'
import { Journal } from './journal.js'
import { lockFolder } from './lock.js'
import { numberedName } from './names.js'

/**
 * A folder of data files, which all sinks of this process that write in it share.
 *
 * @typedef {import('../../base/log.js').Log} Log
 * @typedef {import('./journal.js').Entry} Entry
 * @typedef {{journal: Journal, files: Map<string, DataFile>, unlock: () => void}} Opened
 */

/** A folder of records in the folder of data. */
const RECORDS = '.sluice'
const JOURNAL = 'journal'
const DUE_CHECK_MS = 1000

/** @type {Map<string, Folder>} */
const folders = new Map()

/**
 * @param {string} path  created when missing
 * @param {Log} log
 * @returns {Promise<Folder>} to be released
 */
export async function useFolder (path, log) {
  await makeFolder(resolve(path)) // a power cut must not lose a folder with what is stored in it
  const real = await realpath(path)
  const folder = folders.get(real) ?? new Folder(real, log)
  folders.set(real, folder)
  folder.users++
  return folder
}

/**
 * Its work is done one piece after the other. After an error, the next piece begins with bringing all files back to their last commit: what
 * could not be undone at once, such as on a full disk, is undone then.
 */
export class Folder {
  users = 0
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve()
  /** @type {Opened|null} */
  #opened = null
  #timer

  /** @param {string} path @param {Log} log */
  constructor (path, log) {
    this.path = path
    this.log = log
    this.#timer = setInterval(() => this.#finishDue(), DUE_CHECK_MS).unref()
  }

  /**
   * @template T
   * @param {(opened: Opened) => Promise<T>|T} work
   * @returns {Promise<T>}
   */
  run (work) {
    const result = this.#turn.then(async () => {
      // To open it again after its last user has released it would leave it locked.
      if (folders.get(this.path) !== this) {
        throw new SluiceError('SLUICE_SINK_FILE_CLOSED', `The folder "${this.path}" is no longer in use.`)
      }
      try {
        if (this.#opened?.journal.isReplaced()) await this.#leaveReplaced(this.#opened)
        return await work(this.#opened ??= await this.#open())
      } catch (error) {
        // Rows are refused before anything is written.
        if (!isRefusal(error, () => false)) await this.#abandon()
        throw error
      }
    })
    this.#turn = result.catch(() => {})
    return result
  }

  /** To be called once by each user. */
  async release () {
    this.users--
    this.#turn = this.#turn.then(async () => {
      if (this.users > 0) return
      await this.#close()
      if (this.users > 0) return // in use again
      clearInterval(this.#timer)
      folders.delete(this.path)
    })
    await this.#turn
  }

  /**
   * Begins a data file.
   * @param {Opened} opened
   * @param {Omit<Entry, 'name'|'number'|'length'> & {prefix: string}} options
   */
  async begin ({ journal, files }, { prefix, ...more }) {
    for (let number = journal.lastNumber(more.table) + 1; ; number++) {
      const name = numberedName(prefix, number, formats[more.format].ending)
      if (await exists(join(this.path, name))) continue
      const entry = { ...more, name, number, length: 0 }
      const file = new DataFile(this.path, entry)
      await journal.begin(entry)
      try {
        await file.create()
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
        await journal.finish([name]) // created by others just now
        continue
      }
      files.set(name, file)
      return file
    }
  }

  /** Finishes data files: nothing more is appended to them. @param {Opened} opened @param {DataFile[]} finished */
  async finish ({ journal, files }, finished) {
    for (const file of finished) {
      await file.complete()
      await file.close()
    }
    await journal.finish(finished.map(({ entry: { name } }) => name))
    for (const { entry: { name } } of finished) files.delete(name)
  }

  /**
   * Commits what was appended.
   * @param {Opened} opened
   * @param {import('../commit-records.js').CommitRow[]} records
   * @param {DataFile[]} written
   */
  async commit ({ journal }, records, written) {
    if (records.length === 0 && written.length === 0) return
    await journal.commit(records, Object.fromEntries(written.map(({ bytes, entry: { name } }) => [name, bytes])))
    await journal.tidy().catch(() => this.#abandon()) // the rows are stored nevertheless
  }

  /** Leaves data files to those who have moved or changed them. @param {Opened} opened @param {DataFile[]} left */
  async leave ({ journal, files }, left) {
    for (const file of left) {
      const path = join(this.path, file.entry.name)
      this.log.warn(`File "${path}" was moved, deleted or changed by someone else; what follows goes into a new one.`)
      await file.close()
      files.delete(file.entry.name)
    }
    await journal.finish(left.map(({ entry: { name } }) => name))
  }

  /** @returns {Promise<Opened>} */
  async #open () {
    const records = join(this.path, RECORDS)
    await makeFolder(this.path)
    await makePrivateFolder(records)
    const unlock = lockFolder(records)
    /** @type {Journal|null} */
    let journal = null
    try {
      journal = await Journal.open(join(records, JOURNAL))
      if (journal.damaged > 0) {
        this.log.error(`Folder "${this.path}": ${journal.damaged} lines of its records are damaged; their batches may be stored again. ` +
          'The disk may be failing.')
      }
      return { journal, files: await this.#restored(journal), unlock }
    } catch (error) {
      await journal?.close().catch(() => {})
      unlock()
      throw error
    }
  }

  /** The unfinished data files, each complete and as the last commit left it. @param {Journal} journal */
  async #restored (journal) {
    /** @type {Map<string, DataFile>} */
    const files = new Map()
    const over = []
    for (const entry of [...journal.entries.values()]) {
      const file = new DataFile(this.path, entry)
      const state = await restore(this.path, entry)
      const problem = state === 'as it was' ? await completed(file) : state
      if (problem === null) {
        files.set(entry.name, file)
        continue
      }
      over.push(entry.name)
      if (problem !== 'empty') {
        this.log.warn(`File "${join(this.path, entry.name)}" is ${problem}; it is left alone, and what follows goes into a new one.`)
      }
    }
    await journal.finish(over)
    return files
  }

  async #finishDue () {
    const due = () => [...this.#opened?.files.values() ?? []].filter(({ isDue }) => isDue)
    if (due().length === 0) return
    await this.run(opened => this.finish(opened, due())).catch(error => {
      if (error.code !== 'SLUICE_SINK_FILE_CLOSED') this.log.warn(`Folder "${this.path}": ${describe(error)}; it is tried again.`)
    })
  }

  /** Completes every file, and releases the folder. */
  async #close () {
    const opened = this.#opened
    if (!opened) return
    this.#opened = null
    try {
      for (const file of opened.files.values()) await file.complete()
    } catch (error) {
      this.log.warn(`Folder "${this.path}": a file could not be completed: ${describe(error)}. That is done when it is opened again.`)
    } finally {
      await release(opened)
      opened.unlock()
    }
  }

  /** Another folder has its name, as after a restore: what was written has gone with the former one. @param {Opened} opened */
  async #leaveReplaced (opened) {
    this.log.warn(`The folder "${this.path}" was replaced by another.`)
    this.#opened = null
    await release(opened)
    opened.unlock()
  }

  /** Undoes what was written since the last commit, where that is possible now, and forgets all else. */
  async #abandon () {
    const opened = this.#opened
    if (!opened) return
    this.#opened = null
    await release(opened)
    try {
      // While the lock is held: afterwards, the files may be in use by another process. And by what is on the disk: whether the last line
      // has reached it may be unknown.
      const journal = await Journal.open(join(this.path, RECORDS, JOURNAL))
      await journal.close()
      for (const entry of journal.entries.values()) await restore(this.path, entry).catch(() => {})
    } catch {
      // It is done when the folder is opened again.
    }
    opened.unlock()
  }
}

/** @param {DataFile} file @returns {Promise<string|null>} what is wrong with it */
async function completed (file) {
  try {
    await file.complete()
    return null
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'SLUICE_SINK_FILE_DAMAGED') return 'damaged'
    throw error
  } finally {
    await file.close()
  }
}

/** Closes the files, but keeps the folder. @param {Opened} opened */
async function release ({ journal, files }) {
  for (const file of files.values()) await file.close().catch(() => {})
  await journal.close().catch(() => {})
}

/** @param {string} path */
async function exists (path) {
  return stat(path).then(() => true, error => {
    if (error.code === 'ENOENT') return false
    throw error
  })
}
