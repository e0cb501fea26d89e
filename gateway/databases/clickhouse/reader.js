import { SluiceError } from '../../base/errors.js'
import { reasonOf } from '../connecting/failure.js'
import { readerOptions } from '../reading/options.js'
import { SqlReader } from '../sql/reader.js'
import { plainType, readDialect } from './dialect.js'
import { identifier, literal } from './quote.js'
import { schema } from './reader.schema.js'

export { schema }

/** @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer */

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: ClickhouseServer}} context  whose connections it shares; one at a time for each query
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  return new SqlReader(options, readable(options.table, /** @type {ClickhouseServer} */ (server)))
}

/** @param {string} table @param {ClickhouseServer} server @returns {import('../sql/reader.js').Readable} */
function readable (table, server) {
  const failure = (/** @type {unknown} */ error) => {
    const { cause } = /** @type {Error} */ (error)
    return new SluiceError('SLUICE_QUERY_CLICKHOUSE', `${server.place}, table "${table}": ${reasonOf(cause ?? error)}.`, { cause: error })
  }
  return {
    table: identifier(table),
    dialect: readDialect,
    failure,
    async read (work, signal) {
      const asking = { signal }
      try {
        return await work({
          columns: async () =>
            (await server.query(READ_COLUMNS + literal(table), asking)).map(([name, type]) => ({ name, kind: plainType(type) })),
          all: ({ sql }) => server.query(sql, asking),
          rows: ({ sql }) => server.stream(sql, asking)
        })
      } catch (error) {
        throw error instanceof SluiceError && error.code === 'SLUICE_SINK_CLICKHOUSE' ? failure(error) : error
      }
    }
  }
}

const READ_COLUMNS = 'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '
