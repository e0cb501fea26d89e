import { KeyedReader } from '../keyed/reader.js'
import { nameOfAscii, quote } from '../names.js'
import { readerOptions } from '../reading/options.js'
import { PAGE_ROWS } from '../reading/pages.js'
import { text } from './connection.js'
import { dialect, nameIn } from './dialect.js'
import { schema } from './reader.schema.js'
import { readColumns } from './tables.js'

export { schema }

/** @typedef {{columns: {name: string, kind: string, isKey: boolean, column: string}[], table: string}} Facts */

const KINDS = ['DOUBLE', 'FLOAT', 'LONG', 'INT', 'SHORT', 'BYTE', 'BOOLEAN', 'VARCHAR', 'STRING']

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: a QuestdbServer
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  /** @type {import('../keyed/reader.js').Readable<Facts>} */
  const readable = {
    place: `the table "${options.table}" of ${server.place}`,
    code: 'SLUICE_QUERY_QUESTDB',
    ownNames: dialect.ownNames,
    kinds: KINDS,
    textKind: 'SYMBOL',
    async facts (signal) {
      const table = nameIn(options.table)
      const columns = await readColumns(server, table, signal)
      if (columns.length > 0) await server.settled(table, signal)
      return { table, columns: columns.map(({ name: column, ...its }) => ({ ...its, column, name: nameOfAscii(column) })) }
    },
    async * rows ({ table, columns }, names, { from, last, signal }) {
      const shown = names.slice(1)
      const selected = ['timestamp::long', ...shown.map(name => quote(columns.find(each => each.name === name)?.column ?? name))]
      const isFloat = shown.map(name => columns.some(each => each.name === name && each.kind === 'FLOAT'))
      const first = from < 0n ? 0n : from
      if (last < first) return
      const statement = `SELECT ${selected.join(', ')} FROM ${quote(table)} WHERE timestamp >= ${first}::timestamp_ns ` +
        `AND timestamp <= ${last}::timestamp_ns${options.source === '' ? '' : ` AND source = ${text(options.source)}`}`
      for (let at = 0; ; at += PAGE_ROWS) {
        const rows = await server.query(`${statement} LIMIT ${at}, ${at + PAGE_ROWS}`, signal)
        for (const [time, ...cells] of rows) {
          const values = shown.map((name, i) => [name, isFloat[i] && cells[i] !== null ? Math.fround(cells[i]) : cells[i]])
          yield { time_ns: BigInt(time), ...Object.fromEntries(values) }
        }
        if (rows.length < PAGE_ROWS) return
      }
    }
  }
  return new KeyedReader(options, readable)
}
