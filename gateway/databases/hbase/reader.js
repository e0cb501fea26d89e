import { KeyedReader } from '../keyed/reader.js'
import { readerOptions } from '../reading/options.js'
import { UPSERT } from '../upsert/layout.js'
import { dialect, kinds } from './dialect.js'
import { schema } from './reader.schema.js'
import { keyAt, keyText } from './rows.js'
import { FAMILY, rowOf, tableFacts } from './tables.js'

export { schema }

/** @typedef {import('./tables.js').TableFacts} TableFacts */

const LAST = 2n ** 63n - 1n

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: an HbaseServer
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  /** @type {import('../keyed/reader.js').Readable<TableFacts>} */
  const readable = {
    place: `the table "${options.table}" of ${server.place}`,
    code: 'SLUICE_QUERY_HBASE',
    named: 'table and namespace',
    ownNames: dialect.ownNames,
    kinds: Object.keys(kinds),
    textKind: 'string',
    facts: signal => tableFacts(server, options.table, signal),
    async * rows (facts, names, { from, last, signal }) {
      const columns = facts.columns.filter(({ name }) => name === 'source' || names.includes(name))
      const range = facts.layout === UPSERT ? {} : { from: keyAt(from), ...last < LAST && { to: keyAt(last + 1n) } }
      const cells = columns.map(({ name }) => Buffer.from(FAMILY + name))
      for await (const page of server.scan(facts.table, { ...range, columns: cells }, signal)) {
        for (const row of page) yield /** @type {any} */ (rowOf({ ...facts, columns }, row))
      }
    },
    async withKey (facts, values, signal) {
      const text = keyText(values)
      const rows = await server.rows(facts.table, { from: `${text}/`, to: `${text}0` }, signal)
      return rows.map((/** @type {import('./cells.js').FoundRow} */ row) => rowOf(facts, row))
    }
  }
  return new KeyedReader(options, readable)
}
