import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SluiceError, describe } from '../../base/errors.js'
import { quote } from '../names.js'
import { existingFile } from '../sql/file-options.js'
import { readerOptions } from '../reading/options.js'
import { SqlReader } from '../sql/reader.js'
import { readDialect } from './dialect.js'
import { schema } from './reader.schema.js'

export { schema }

/**
 * @typedef {import('../sql/reader.js').Readable} Readable
 * @typedef {import('../sql/reader.js').ReadSession} ReadSession
 * @typedef {import('../sql/table-statements.js').Statement} Statement
 */

const BUSY_TIMEOUT_MS = 500

/** SQLite works within the gateway's own thread: between pieces of so many rows the gateway goes on with its other work. */
const SLICE_ROWS = 20_000

/**
 * Opens a file for reading. What is being written stays out of the sight of each reading, and is not held up by it.
 * @param {Record<string, unknown>} given  see the schema
 * @returns {Promise<import('../reader.js').Reader>}
 * @throws {SluiceError} SLUICE_QUERY_SQLITE
 */
export async function open (given) {
  const { file, ...options } = readerOptions(schema, given)
  const path = existingFile(file, 'SLUICE_QUERY_SQLITE', 'SQLite')
  return new SqlReader(/** @type {any} */ (options), readable(path, options.table))
}

/** @param {string} path @param {string} table @returns {Readable} */
function readable (path, table) {
  const failure = (/** @type {unknown} */ error) =>
    new SluiceError('SLUICE_QUERY_SQLITE', `Cannot read the SQLite file ${quote(path)}: ${describe(error)}.`, { cause: error })
  const database = openDatabase(path, failure)
  /** how many see the state of the database that the first of them has found */
  let readings = 0
  let isOpen = true
  const session = sessionOf(database, table)
  return {
    table: quote(table),
    dialect: readDialect,
    failure,
    async read (work) {
      if (readings++ === 0) database.exec('BEGIN')
      try {
        return await work(session)
      } finally {
        if (--readings === 0 && isOpen) database.exec('ROLLBACK')
      }
    },
    async close () {
      isOpen = false
      database.close()
    }
  }
}

/** @param {string} path @param {(error: unknown) => SluiceError} failure */
function openDatabase (path, failure) {
  try {
    return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  } catch (error) {
    throw failure(error)
  }
}

/** @param {DatabaseSync} database @param {string} table @returns {ReadSession} */
function sessionOf (database, table) {
  const prepare = (/** @type {string} */ sql) => {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    return statement
  }
  /** @param {Statement} statement @returns {Iterable<any[]>} */
  const iterate = ({ sql, values }) => {
    const statement = prepare(sql)
    if (!('setReturnArrays' in statement)) return cellsOf(statement, values) // before Node 24, and four times as slow
    statement.setReturnArrays(true)
    return /** @type {any} */ (statement.iterate(...values))
  }
  return {
    columns: async () => database.prepare('SELECT name, type FROM pragma_table_xinfo(?)').all(table)
      .map(({ name, type }) => ({ name: String(name), kind: String(type).toUpperCase() })),

    all: async statement => [...iterate(statement)],

    async * rows (statement, atATime) {
      /** @type {any[][]} */
      let some = []
      for (const row of iterate(statement)) {
        some.push(row)
        if (some.length < atATime) continue
        await nextTurn()
        yield some
        some = []
      }
      await nextTurn()
      if (some.length > 0) yield some
    },

    // Without an index on time there is one piece: each would have to sort the whole table.
    async * slices (statements, { from, to, signal }, backwards = false) {
      const border = () => statements.after(SLICE_ROWS, { from, to }, backwards)
      const { sql, values } = border()
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
      const isSorted = plan.every(({ detail }) => !String(detail).includes('TEMP B-TREE'))
      while (isSorted) {
        const [row] = iterate(border())
        if (!row) break
        const cut = backwards || row[0] > from ? row[0] : from + 1n
        yield backwards ? { from: cut, to } : { from, to: cut }
        if (backwards) to = cut
        else from = cut
        await nextTurn()
        signal?.throwIfAborted()
      }
      yield { from, to }
    }
  }
}

/**
 * Holds the statement while it is read: what such a Node iterates over does not.
 * @param {import('node:sqlite').StatementSync} statement
 * @param {any[]} values
 */
function * cellsOf (statement, values) {
  for (const row of /** @type {any} */ (statement).iterate(...values)) yield Object.values(row)
}
