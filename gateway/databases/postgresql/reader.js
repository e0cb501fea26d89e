import { SluiceError, describe } from '../../base/errors.js'
import { quote } from '../names.js'
import { readerOptions } from '../reading/options.js'
import { whole } from '../reading/values.js'
import { SqlReader } from '../sql/reader.js'
import { readDialect } from './dialect.js'
import { schema } from './reader.schema.js'

export { schema }

/**
 * @typedef {import('./connection.js').Client} Client
 * @typedef {import('./connection.js').PostgresqlServer} PostgresqlServer
 * @typedef {import('../sql/table-statements.js').Statement} Statement
 */

/** Its columns, of a table's or view's quoted name. */
export const READ_COLUMNS = `
  SELECT a.attname AS name, t.typname AS kind FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`

/** How long the server continues a query after its connection is lost; where it can notice, which it cannot on Windows. */
const NOTICE_BROKEN_CONNECTIONS = `
  SELECT set_config(name, '1s', false) FROM pg_settings
  WHERE name = 'client_connection_check_interval' AND setting = '0' AND version() !~* 'visual c|msvc|mingw|windows'`

/** @type {WeakSet<Client>} */
const noticing = new WeakSet()

/** By the OID of a type; all others as text. @type {Record<number, (text: string) => unknown>} */
const PARSERS = {
  16: text => text === 't',
  17: text => Buffer.from(text.slice(2), 'hex'),
  20: text => whole(BigInt(text)),
  21: Number,
  23: Number,
  700: text => Math.fround(Number(text)),
  701: Number,
  1700: Number
}

const types = { getTypeParser: (/** @type {number} */ oid) => PARSERS[oid] ?? String }

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: PostgresqlServer}} context  whose connections it shares; one at a time for each query
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  const connections = /** @type {PostgresqlServer} */ (server)
  const table = `${quote(options.schema)}.${quote(options.table)}`
  return new SqlReader(options, {
    table,
    dialect: readDialect,
    failure: error =>
      new SluiceError('SLUICE_QUERY_POSTGRESQL', `${connections.place}, table ${table}: ${describe(error)}.`, { cause: error }),
    read: (work, signal) => connections.read(async client => {
      if (!noticing.has(client)) await client.query(NOTICE_BROKEN_CONNECTIONS)
      noticing.add(client)
      return work({
        columns: async () => (await client.query({ name: 'sluice_read_columns', text: READ_COLUMNS, values: [table] })).rows,
        all: statement => rowsOf(client, statement),
        rows: (statement, atATime) => fetches(client, statement, atATime)
      })
    }, signal)
  })
}

/**
 * The rows of a statement, some at a time, as they are asked for. What a reading sees is one state of the database.
 * @param {Client} client
 * @param {Statement} statement
 * @param {number} rows  of each fetch
 * @returns {AsyncGenerator<any[][], void, void>}
 */
async function * fetches (client, { sql, values }, rows) {
  await client.query('BEGIN READ ONLY')
  try {
    await client.query(`DECLARE sluice NO SCROLL CURSOR FOR ${sql}`, values)
    for (;;) {
      const fetched = await rowsOf(client, { sql: `FETCH ${rows} FROM sluice`, values: [] })
      if (fetched.length > 0) yield fetched
      if (fetched.length < rows) return
    }
  } finally {
    await client.query('ROLLBACK').catch(() => {}) // it fails where the connection has ended, which is the error already on its way
  }
}

/** @param {Client} client @param {Statement} statement @returns {Promise<any[][]>} */
async function rowsOf (client, { sql, values }) {
  const { rows } = await client.query({ text: sql, values, rowMode: 'array', types })
  return /** @type {any} */ (rows)
}
