import { say } from '../../../resources/sentences.js'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { checkName } from '../names.js'
import { isRefusal } from '../refusal.js'
import { sqlSink } from '../sql/sink.js'
import { columnsOf } from '../sql/tables.js'
import { UPSERT } from '../upsert/layout.js'
import { commitRecords } from './commit-records.js'
import { CopyIn } from './copy-in.js'
import { dialect } from './dialect.js'
import { schema } from './sink.schema.js'
import { agingTable, prepareTable } from './tables.js'
import { begin, LOCKS } from './transaction.js'

export { schema }

/**
 * @typedef {import('./connection.js').PostgresqlServer} PostgresqlServer
 * @typedef {{client: import('./connection.js').Client, encoder: import('./copy-encoder.js').CopyEncoder}} Session
 */

/**
 * SQLSTATEs by which the server reports that the rows are at fault: cardinality, data, constraints, check options, program limits, and
 * what a user's trigger raises.
 * 22P03 and 22P04 are not: a column changed its type since the table was looked at, and the next attempt will see that.
 */
const REFUSED = /^(2[123]|44|54)(?!P0[34])|^P0001$/

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code }) => typeof code === 'string' && code.length === 5 && REFUSED.test(code))
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: PostgresqlServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = withDefaults(schema, given)
  if (options.layout === UPSERT && options.hypertable) {
    throw new SluiceError('SLUICE_OPTIONS', say('hypertable'))
  }
  return sqlSink(options, storage(options, server))
}

/**
 * @param {Record<string, any>} options
 * @param {PostgresqlServer} server
 * @returns {import('../sql/sink.js').Storage<Session, import('./tables.js').Plan>}
 */
function storage (options, server) {
  return {
    dialect,
    isTransient,
    place: server.place,
    ...commitRecords(checkName(options.schema, 'schema', dialect), server.place),
    use: (work, signal) => server.use((client, encoder) => work({ client, encoder }), signal),
    failure: error => new SluiceError('SLUICE_SINK_POSTGRESQL', `${server.place}: ${describe(error)}${whereOf(error)}.`, { cause: error }),
    prepareTable ({ client }, name, arranged, withSource) {
      const table = { .../** @type {any} */ (options), name, source: arranged.source }
      return prepareTable(client, table, columnsOf(arranged, dialect, withSource, options), withSource)
    },
    agingTable: ({ client }, name) => agingTable(client, { .../** @type {any} */ (options), name }),
    async store ({ client, encoder }, claimed, { probe }) {
      await begin(client, LOCKS.claiming)
      const copies = Array.from(await claimed(), ([{ copySql: sql, columns }, batches]) => ({ sql, columns, batches }))
      const copyIn = new CopyIn(copies, probe ? 'SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK' : 'COMMIT', encoder)
      client.query(copyIn)
      await copyIn.done
    }
  }
}

/** @param {any} error  of the server, which may tell where it happened */
function whereOf ({ where }) {
  return where ? ` (${where.split('\n')[0]})` : ''
}
