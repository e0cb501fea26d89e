import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SluiceError, describe } from '../../base/errors.js'
import { edgeOf, minimumOf, summariesOf } from '../reading/compute.js'
import { documentRange, documentSamples } from '../reading/documents.js'
import { PAGE_ROWS, Pages } from '../reading/pages.js'
import { withDefaults } from '../../base/defaults.js'
import { MEASUREMENTS } from '../../batch/layouts.js'
import { quote } from '../names.js'
import { schema } from './reader.schema.js'
import { edgeSql, leastSql, readTable, samplesSql, sliceSql, valueOf } from './reader-sql.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('./reader-sql.js').ReadTable} ReadTable
 */

const BUSY_TIMEOUT_MS = 500

/**
 * SQLite works within the gateway's own thread: between pieces of so many rows, or of so many documents, the gateway goes on with its other
 * work.
 */
const SLICE_ROWS = 20_000
const SLICE_DOCUMENTS = 50

/**
 * Opens a file for reading. What is being written stays out of the sight of each reading of samples, and is not held up by it.
 * @param {Record<string, unknown>} options  see the schema
 * @returns {Promise<Reader>}
 * @throws {SluiceError} SLUICE_QUERY_SQLITE
 */
export async function open (options) {
  const { file, ...table } = withDefaults(schema, options)
  const path = resolve(file)
  if (!existsSync(path)) throw new SluiceError('SLUICE_QUERY_SQLITE', `There is no SQLite file "${path}".`, { fix: 'Check its name; the sink makes it with its first batch.' })
  try {
    return new SqliteReader(path, new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS }), /** @type {any} */ (table))
  } catch (error) {
    throw failure(path, error)
  }
}

/** @implements {Reader} */
class SqliteReader {
  #file
  #database
  #options
  /** how many see the state of the database that the first of them has found */
  #readings = 0
  #isOpen = true

  /** @param {string} file @param {DatabaseSync} database @param {import('../reading/table.js').TableOptions} options */
  constructor (file, database, options) {
    this.#file = file
    this.#database = database
    this.#options = options
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    try {
      range.signal?.throwIfAborted()
      const table = readTable(this.#database, this.#options)
      const pages = table.layout === 'document' ? documentSamples(this.#documents(table, range), range) : this.#pages(table, range)
      for await (const page of pages) {
        await nextTurn()
        yield page
        range.signal?.throwIfAborted()
      }
    } catch (error) {
      throw this.#failure(error, range.signal)
    }
  }

  /**
   * Computed from the samples: SQLite's own way, in the same thread, takes as long and cannot be interrupted.
   * @type {Reader['summaries']}
   */
  summaries (range) {
    return summariesOf(this, range)
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    if (this.#options.layout === 'document') return edgeOf(this, range)
    const { sensor, above = null, below = null, last = false, signal } = range
    return this.#attempt(signal, async table => {
      if (!table.has(sensor)) return null
      const read = this.#prepare(edgeSql(table, sensor, last))
      for await (const slice of this.#slices(table, range, last)) {
        const found = read.get({ ...table.parameters, ...table.sensorParameters(sensor), ...slice, above, below })
        if (found) return /** @type {bigint} */ (found.time)
      }
      return null
    })
  }

  /** @type {Reader['minimum']} */
  async minimum (range) {
    if (this.#options.layout === 'document') return minimumOf(this, range)
    const { sensor, signal } = range
    return this.#attempt(signal, async table => {
      if (!table.has(sensor)) return null
      const read = this.#prepare(leastSql(table, sensor))
      /** @type {{time: bigint, value: number|bigint}|null} */
      let least = null
      for await (const slice of this.#slices(table, range)) {
        const found = /** @type {any} */ (read.get({ ...table.parameters, ...table.sensorParameters(sensor), ...slice }))
        if (found && (least === null || found.value < least.value)) least = found
      }
      return least && least.time
    })
  }

  async close () {
    this.#isOpen = false
    this.#database.close()
  }

  /** @param {ReadTable} table @param {Parameters<Reader['samples']>[0]} range */
  async * #pages (table, range) {
    const { sensors, pageRows = PAGE_ROWS } = range
    const known = sensors.filter(sensor => table.has(sensor))
    if (known.length === 0) return
    const pages = new Pages({ sensors, pageRows })
    const { sql, parameters } = samplesSql(table, known)
    if (this.#readings++ === 0) this.#database.exec('BEGIN')
    try {
      for await (const slice of this.#slices(table, range)) {
        for (const row of this.#rows(sql, { ...table.parameters, ...parameters, ...slice })) {
          table.addRow(row, known, pages)
          yield * pages.full()
        }
      }
      yield * pages.rest()
    } finally {
      if (--this.#readings === 0 && this.#isOpen) this.#database.exec('ROLLBACK')
    }
  }

  /** @param {ReadTable} table @param {import('../reader.js').Range} range */
  async * #documents (table, range) {
    const { first, to } = documentRange(range, table.intervalNs)
    const { sql } = samplesSql(table, [MEASUREMENTS])
    let documents = 0
    for (const [time, measurements] of this.#rows(sql, { ...table.parameters, from: first, to })) {
      yield { time, measurements: String(valueOf(measurements)) }
      if (++documents % SLICE_DOCUMENTS !== 0) continue
      await nextTurn()
      range.signal?.throwIfAborted()
    }
  }

  /**
   * A range in pieces of some thousands of rows, the gateway's other work between them. Without an index on time there is one piece: each
   * would have to sort the whole table.
   * @param {ReadTable} table
   * @param {{from: bigint, to: bigint, signal?: AbortSignal}} range
   * @param {boolean} [backwards]
   */
  async * #slices (table, { from, to, signal }, backwards = false) {
    const sql = sliceSql(table, SLICE_ROWS, backwards)
    const read = this.#prepare(sql)
    const isSorted = this.#prepare(`EXPLAIN QUERY PLAN ${sql}`).all({ ...table.parameters, from, to }).every(({ detail }) => !String(detail).includes('TEMP B-TREE'))
    for (;;) {
      const border = isSorted ? /** @type {bigint|undefined} */ (read.get({ ...table.parameters, from, to })?.time) : undefined
      if (border === undefined) break
      const cut = backwards || border > from ? border : from + 1n
      yield backwards ? { from: cut, to } : { from, to: cut }
      if (backwards) to = cut
      else from = cut
      await nextTurn()
      signal?.throwIfAborted()
    }
    yield { from, to }
  }

  /** @param {string} sql @param {Record<string, string|bigint>} parameters @returns {Iterable<any[]>} */
  #rows (sql, parameters) {
    const statement = this.#prepare(sql)
    if (!('setReturnArrays' in statement)) return cellsOf(statement, parameters) // before Node 24, and four times as slow
    statement.setReturnArrays(true)
    return /** @type {any} */ (statement.iterate(parameters))
  }

  /** @param {string} sql */
  #prepare (sql) {
    const statement = this.#database.prepare(sql)
    statement.setReadBigInts(true)
    return statement
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(table: ReadTable) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (signal, work) {
    try {
      signal?.throwIfAborted()
      return await work(readTable(this.#database, this.#options))
    } catch (error) {
      throw this.#failure(error, signal)
    }
  }

  /** @param {unknown} error @param {AbortSignal} [signal] */
  #failure (error, signal) {
    return signal?.aborted || error instanceof SluiceError ? error : failure(this.#file, error)
  }
}

/**
 * Holds the statement while it is read: what such a Node iterates over does not.
 * @param {import('node:sqlite').StatementSync} statement
 * @param {Record<string, string|bigint>} parameters
 */
function * cellsOf (statement, parameters) {
  for (const row of /** @type {any} */ (statement).iterate(parameters)) yield Object.values(row)
}

/** @param {string} file @param {unknown} error */
function failure (file, error) {
  return new SluiceError('SLUICE_QUERY_SQLITE', `Cannot read the SQLite file ${quote(file)}: ${describe(error)}.`, { cause: error })
}
