import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError, describe } from '../../base/errors.js'
import { committedRanges, recordKey } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { arrangement, MEASUREMENTS } from '../../batch/layouts.js'
import { tableNames } from '../names.js'
import { isRefusal } from '../refusal.js'
import { shapeOf, wideColumns } from '../wide.js'
import { CommitRecords } from './commit-records.js'
import { rollBack } from './roll-back.js'
import { RowInserter } from './rows.js'
import { schema } from './sink.schema.js'
import { dialect, prepareTable } from './tables.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {{database: DatabaseSync, commits: CommitRecords, inserters: Map<string, RowInserter>}} Opened
 */

// SQLite's primary result codes that say the rows are at fault: too big, a constraint, a type mismatch.
const REFUSED = [18, 19, 20]

// Waiting for another process's lock holds up the whole gateway; the writer's retry waits without.
const BUSY_TIMEOUT_MS = 500

const MAX_SHAPES = 1000

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code, errcode }) => code === 'ERR_SQLITE_ERROR' && REFUSED.includes(errcode & 0xff))
}

/**
 * The file is opened when it is first needed, and again after an error: a sink whose disk is not there yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @returns {Promise<Sink>}
 */
export async function open (options) {
  return new SqliteSink(withDefaults(schema, options))
}

/** @implements {Sink} */
class SqliteSink {
  #file
  #names
  #arrange
  #layout
  /** @type {Opened|null} */
  #opened = null

  /** @param {Record<string, any>} options */
  constructor ({ file, table, layout, intervalMs }) {
    this.#file = resolve(file)
    this.#names = tableNames(table, dialect)
    this.#arrange = arrangement({ layout, intervalMs })
    this.#layout = layout
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    this.#attempt(({ inserters }) => this.#inserters(batches.filter(batch => !inserters.has(shapeOf(batch)))))
  }

  async committed () {
    return this.#attempt(({ commits }) => committedRanges(this.#ownRecords(commits)))
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    signal?.throwIfAborted()
    return this.#attempt(({ database, commits }) => {
      const inserters = this.#inserters(batches)
      database.exec('BEGIN IMMEDIATE')
      const tried = new Set()
      const isClaimed = (/** @type {import('../../batch/batch.js').Identity} */ identity) => {
        // A probe may try several slices of one batch.
        if (probe && tried.has(recordKey(identity))) return true
        const claimed = commits.claim(this.#names.inRecords(identity.source), identity)
        if (claimed) tried.add(recordKey(identity))
        return claimed
      }
      const duplicates = batches.filter((batch, i) => {
        const isNew = !batch.identity || isClaimed(batch.identity)
        if (isNew) inserters[i]?.()
        return !isNew
      })
      database.exec(probe ? 'ROLLBACK' : 'COMMIT')
      return { duplicates }
    })
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    this.#attempt(({ database, commits }) => {
      database.exec('BEGIN IMMEDIATE')
      commits.merge(this.#ownRecords(commits), heads)
      database.exec('COMMIT')
    })
  }

  async close () {
    this.#shut()
  }

  /** What inserts each batch; null for those without rows, which need no table. @param {Batch[]} batches */
  #inserters (batches) {
    return batches.map(batch => {
      const arranged = this.#arrange(batch)
      if (arranged.rows === 0) return null
      const inserter = this.#inserter(shapeOf(batch), arranged)
      return () => inserter.insert(arranged)
    })
  }

  /** @param {string} shape @param {Batch} batch  arranged */
  #inserter (shape, batch) {
    const { database, inserters } = this.#open()
    let inserter = inserters.get(shape)
    if (!inserter) {
      const wanted = wideColumns(batch, dialect, !this.#names.perSource, this.#layout === 'document' ? MEASUREMENTS : undefined)
      inserter = new RowInserter(database, prepareTable(database, this.#names.of(batch.source), wanted, this.#layout))
      if (inserters.size >= MAX_SHAPES) inserters.clear()
      inserters.set(shape, inserter)
    }
    return inserter
  }

  /** @param {CommitRecords} commits */
  #ownRecords (commits) {
    return commits.read().filter(({ source, table }) => this.#names.inRecords(source) === table)
  }

  /**
   * @template T
   * @param {(opened: Opened) => T} work  leaves no transaction open
   * @returns {T}
   */
  #attempt (work) {
    try {
      return work(this.#open())
    } catch (error) {
      if (this.#opened) rollBack(this.#opened.database)
      // Whatever else failed, the file may have been replaced or its tables changed: start afresh.
      if (isTransient(error)) this.#shut()
      if (error instanceof SluiceError) throw error
      throw new SluiceError('SLUICE_SINK_SQLITE', `SQLite file "${this.#file}": ${describe(error)}.`, { cause: error })
    }
  }

  #shut () {
    this.#opened?.database.close()
    this.#opened = null
  }

  #open () {
    this.#opened ??= openDatabase(this.#file)
    return this.#opened
  }
}

/** @param {string} file @returns {Opened} */
function openDatabase (file) {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    return { database, commits: new CommitRecords(database), inserters: new Map() }
  } catch (error) {
    database.close()
    throw error
  }
}
