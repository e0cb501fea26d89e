import { handedOver } from '../reading/handover.js'
import { KeyedReader, unreadable } from '../keyed/reader.js'
import { quote } from '../names.js'
import { readerOptions } from '../reading/options.js'
import { dialect } from './dialect.js'
import { schema } from './reader.schema.js'
import { readColumns } from './tables.js'

export { schema }

const KINDS = ['DOUBLE', 'REAL', 'BIGINT', 'INTEGER', 'SMALLINT', 'BOOLEAN', 'NVARCHAR', 'VARBINARY']
const ROWS_AT_A_TIME = 1000

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: a HanaServer
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  const place = `the table "${options.table}" of ${server.place}`
  return new KeyedReader(options, {
    place,
    code: 'SLUICE_QUERY_HANA',
    ownNames: dialect.ownNames,
    kinds: KINDS,
    textKind: 'NVARCHAR',
    async facts (signal) {
      const { layout, sensorColumn } = options
      const columns = await server.read((/** @type {any} */ session) => readColumns(session, options.table), signal)
      const hasSensors = columns.some((/** @type {{name: string}} */ { name }) => name === sensorColumn)
      if (columns.length === 0 || hasSensors || layout === 'wide') return { columns, layout }
      throw unreadable(place, `has no column "${sensorColumn}"`, 'Set the sensor column, or another layout.')
    },
    async * rows ({ columns }, names, { from, last, signal }) {
      const kindOf = new Map(columns.map((/** @type {{name: string, kind: string}} */ { name, kind }) => [name, kind]))
      const values = [String(from), String(last), ...options.source === '' ? [] : [options.source]]
      const sql = `SELECT ${names.map(quote).join(', ')} FROM ${quote(options.table)} WHERE "time_ns" >= ? AND "time_ns" <= ?` +
        `${options.source === '' ? '' : ' AND "source" = ?'} ORDER BY "time_ns"`
      const exact = names.map(name => kindOf.get(name) === 'BIGINT' ? BigInt : (/** @type {any} */ cell) => cell)
      /** @param {(rows: any[][]) => Promise<boolean>} give */
      const fetch = give => server.read(async (/** @type {any} */ session) => {
        let rows = []
        for await (const row of session.stream(sql, values)) {
          rows.push(row)
          if (rows.length < ROWS_AT_A_TIME) continue
          if (!await give(rows)) return
          rows = []
        }
        if (rows.length > 0) await give(rows)
      }, signal)
      for await (const rows of handedOver(fetch)) {
        for (const row of rows) {
          const cells = row.map((/** @type {any} */ cell, /** @type {number} */ i) => [names[i], cell === null ? null : exact[i](cell)])
          yield /** @type {any} */ (Object.fromEntries(cells))
        }
      }
    }
  })
}
