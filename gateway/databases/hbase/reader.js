import { SluiceError, describe } from '../../base/errors.js'
import { KeyedReader } from '../keyed/reader.js'
import { readerOptions } from '../reading/options.js'
import { UPSERT } from '../upsert/layout.js'
import { dialect, kinds } from './dialect.js'
import { schema } from './reader.schema.js'
import { keyAt, keyText } from './rows.js'
import { FAMILY, rowOf, tableFacts } from './tables.js'

export { schema }

/** @typedef {import('./tables.js').TableFacts} TableFacts */

/** Requests under way at a time. */
const KEYS_AT_ONCE = 32

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n]

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: an HbaseServer
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  const place = `the table "${options.table}" of ${server.place}`
  /** @param {string} what @param {string} fix */
  const unreadable = (what, fix) => new SluiceError('SLUICE_QUERY_TABLE', `${place.replace('the', 'The')} ${what}.`, { fix })
  /** @type {import('../keyed/reader.js').Readable<TableFacts>} */
  const readable = {
    ownNames: dialect.ownNames,
    kinds: Object.keys(kinds),
    textKind: 'string',
    async facts (signal) {
      const facts = await tableFacts(server, options.table, signal)
      if (!facts) throw unreadable('does not exist', 'Check table and namespace; the sink creates the table with its first batch.')
      const is = facts.layout === 'narrow' ? 'narrow' : 'wide'
      if (is !== options.layout) throw unreadable(`is of the layout ${is}`, 'Set the layout of the sink.')
      return facts
    },
    async * rows (facts, columns, { from, to, signal }) {
      const isOfSource = (/** @type {any} */ row) => options.source === '' || row.source === null || row.source === options.source
      const hasSource = facts.columns.some(({ name }) => name === 'source')
      const shown = facts.columns.filter(({ name }) => columns.includes(name) || (hasSource && name === 'source'))
      const isUpsert = facts.layout === UPSERT
      const range = isUpsert ? {} : { from: keyAt(from < LEAST ? LEAST : from), ...to <= MOST && { to: keyAt(to) } }
      /** @type {any[]} that are wanted, of a table without an order of time */
      const found = []
      const names = shown.map(({ name }) => Buffer.from(FAMILY + name))
      for await (const page of server.scan(facts.table, { ...range, columns: names }, signal)) {
        for (const each of page) {
          const row = rowOf({ ...facts, columns: shown }, each)
          if (!isOfSource(row) || row.time_ns < from || row.time_ns >= to) continue
          if (isUpsert) found.push(row)
          else yield /** @type {any} */ (row)
        }
      }
      yield * found.sort((a, b) => a.time_ns < b.time_ns ? -1 : a.time_ns > b.time_ns ? 1 : 0)
    },
    async withKey (facts, key, values, signal) {
      if (facts.layout !== UPSERT || String(facts.key) !== String(key.toSorted())) {
        throw unreadable(facts.layout === UPSERT ? `finds rows by ${facts.key.join(', ')}, not by ${key.join(', ')}` : 'has no key',
          'Set the key that the sink has, with the layout upsert.')
      }
      const order = facts.key.map(name => key.indexOf(name))
      /** @type {any[]} */
      const found = []
      for (let from = 0; from < values.length; from += KEYS_AT_ONCE) {
        const pages = await Promise.all(values.slice(from, from + KEYS_AT_ONCE).map(cells => {
          const text = keyText(order.map(at => cells[at]))
          return server.rows(facts.table, { from: `${text}/`, to: `${text}0` }, signal)
        }))
        found.push(...pages.flat().map(row => rowOf(facts, row)))
      }
      return found
    },
    failure: error => new SluiceError('SLUICE_QUERY_HBASE', `Cannot read ${place}: ${describe(error)}.`, { cause: error })
  }
  return new KeyedReader(options, readable)
}
