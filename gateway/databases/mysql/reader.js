import { SluiceError, describe } from '../../base/errors.js'
import { readerOptions } from '../reading/options.js'
import { SqlReader } from '../sql/reader.js'
import { quote } from './dialect.js'
import { readingOf } from './paper-reader.js'
import { schema } from './reader.schema.js'

export { schema }

/**
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./connection.js').MysqlServer} MysqlServer
 * @typedef {import('../sql/table-statements.js').Statement} Statement
 */

/** The columns of a table's or view's name; the server's comparison may ignore case. A copy has to know whether a smallint has a sign. */
export const READ_COLUMNS = `
  SELECT TABLE_NAME AS tableName, COLUMN_NAME AS name, COALESCE(GENERATION_EXPRESSION, '') <> '' AS isComputed,
    IF(COLUMN_TYPE LIKE 'smallint% unsigned%', 'smallint unsigned', DATA_TYPE) AS kind
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`

const MAX_ROWS_AHEAD = 1000

const LEFT = new Error('the rest of these rows is not needed')

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: MysqlServer}} context  whose connections it shares; one at a time for each query
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const { options, dialect } = readingOf(readerOptions(schema, given))
  return new SqlReader(options, readable(options.table, /** @type {MysqlServer} */ (server), dialect))
}

/**
 * @param {string} table
 * @param {MysqlServer} server
 * @param {import('../sql/read-dialect.js').ReadDialect} dialect
 * @returns {import('../sql/reader.js').Readable}
 */
function readable (table, server, dialect) {
  return {
    table: quote(table),
    dialect,
    failure: error => new SluiceError('SLUICE_QUERY_MYSQL', `${server.place}, table "${table}": ${describe(error)}.`, { cause: error }),
    // A reading may be left before its end: the server still has rows to send on the connection, which is then given up.
    async read (work, signal) {
      const left = new AbortController()
      try {
        return await server.read(async connection => {
          const result = await work({
            columns: () => columnsOf(connection, table),
            all: statement => rowsOf(connection, statement),
            rows: (statement, atATime) => streamed(connection, statement, Math.min(atATime, MAX_ROWS_AHEAD), () => left.abort(LEFT))
          })
          left.signal.throwIfAborted()
          return result
        }, signal ? AbortSignal.any([signal, left.signal]) : left.signal)
      } catch (error) {
        if (error !== LEFT) throw error
        return /** @type {any} */ (undefined)
      }
    }
  }
}

/** @param {Connection} connection @param {string} table */
async function columnsOf (connection, table) {
  const [found] = /** @type {[any[], any]} */ (await connection.execute(READ_COLUMNS, [table]))
  const own = found.filter(({ tableName }) => tableName === table)
  return own.length > 0 ? own : found
}

/** @param {Connection} connection @param {Statement} statement @returns {Promise<any[][]>} */
async function rowsOf (connection, statement) {
  const [rows] = await connection.execute({ ...statement, rowsAsArray: true })
  return /** @type {any} */ (rows)
}

/**
 * The rows of a statement as they come, no more than so many ahead of what is asked for. What a reading sees is one state of the database.
 * @param {Connection} connection
 * @param {Statement} statement
 * @param {number} rowsAhead
 * @param {() => void} leave  when the rest is not wanted
 * @returns {AsyncGenerator<any[][], void, void>}
 */
async function * streamed (connection, statement, rowsAhead, leave) {
  const driver = /** @type {any} */ (connection.connection)
  const stream = driver.execute({ ...statement, rowsAsArray: true }).stream({ highWaterMark: rowsAhead })
  // The driver reports the end of a connection only to statements with callbacks.
  const onError = (/** @type {Error} */ error) => stream.destroy(error)
  driver.once('error', onError)
  let isOver = false
  try {
    let rows = []
    for await (const row of stream) {
      rows.push(row)
      if (rows.length < rowsAhead) continue
      yield rows
      rows = []
    }
    isOver = true
    yield rows
  } catch (error) {
    isOver = true
    throw error
  } finally {
    driver.off('error', onError)
    if (!isOver) leave()
  }
}
