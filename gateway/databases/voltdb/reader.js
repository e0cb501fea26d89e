import { KeyedReader } from '../keyed/reader.js'
import { readerOptions } from '../reading/options.js'
import { PAGE_ROWS } from '../reading/pages.js'
import { isRefused } from './connection.js'
import { dialect, nameIn } from './dialect.js'
import { schema } from './reader.schema.js'
import { readColumns } from './tables.js'

export { schema }

/** @typedef {{columns: import('./tables.js').Column[], table: string}} Facts */

/** In the place of a number. */
const NULL = -(2n ** 63n)

/** How VoltDB says that an answer has more than the 50 MB that it allows, or what it needs to make one more than the memory for that. */
const TOO_LONG = /overflowed output|temp table memory/i

const KINDS = ['FLOAT', 'BIGINT', 'INTEGER', 'SMALLINT', 'TINYINT', 'VARCHAR', 'VARBINARY']

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: a VoltdbServer
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  /** @type {import('../keyed/reader.js').Readable<Facts>} */
  const readable = {
    place: `the table "${options.table}" of ${server.place}`,
    code: 'SLUICE_QUERY_VOLTDB',
    ownNames: dialect.ownNames,
    kinds: KINDS,
    textKind: 'VARCHAR',
    async facts (signal) {
      const table = nameIn(options.table)
      return { table, columns: await readColumns(await server.session(signal), table, { signal }) }
    },
    async * rows ({ table }, names, { from, last, signal }) {
      const order = ['time_ns', 'sluice_batch', 'sluice_row', ...options.layout === 'narrow' ? ['sensor'] : []].join(', ')
      const source = options.source === '' ? [] : [options.source]
      const statement = `SELECT ${names.map(nameIn).join(', ')} FROM ${table} WHERE time_ns >= ? AND time_ns <= ?` +
        `${source.length > 0 ? ' AND source = ?' : ''} ORDER BY ${order}`
      // Each page begins at the last time of the one before, after as many rows of that time as there were.
      for (let [first, passed, limit] = [from === NULL ? from + 1n : from, 0, PAGE_ROWS]; ;) {
        const halve = (/** @type {unknown} */ error) => {
          if (limit === 1 || !isRefused(error, TOO_LONG)) throw error
          return null
        }
        const page = `${statement} LIMIT ${limit} OFFSET ${passed}`
        /** @type {any[][]|null} */
        const rows = await server.query(page, [first, last, ...source], signal).catch(halve)
        if (!rows) {
          limit = Math.ceil(limit / 4)
          continue
        }
        for (const row of rows) {
          passed = row[0] === first ? passed + 1 : 1
          first = row[0]
          yield /** @type {any} */ (Object.fromEntries(names.map((name, i) => [name, row[i]])))
        }
        if (rows.length < limit) return
      }
    }
  }
  return new KeyedReader(options, readable)
}
