import { withDefaults } from '../../base/defaults.js'
import { manyAtOnce } from '../../base/many-at-once.js'
import { remembered } from '../../base/remembered.js'
import { AnswerError } from '../http.js'
import { BatchKeys } from '../keyed/batch-keys.js'
import { keyedSink, lending } from '../keyed/sink.js'
import { isRefusal } from '../refusal.js'
import { UPSERT } from '../upsert/layout.js'
import { beganMs, findCommits, leaveCommits, mergeCommits, nameStore, prepareCommits, readCommits } from './commit-records.js'
import { encodeRows } from './cells.js'
import { dialect } from './dialect.js'
import { chunksOf, keyedRows, timedRows } from './rows.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'

export { schema }

/** How HBase says that a row is at fault: a value or a key of it is too long. */
const REFUSED = /KeyValue size too large|Cell .*(exceeds limit|too large)|Row length .* is >|exceeds the limit/i

/** Requests of a write under way at a time. */
const IN_FLIGHT = 4

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, cause => cause instanceof AnswerError && REFUSED.test(cause.text))
}

/**
 * HBase has no transactions over rows. A row's key comes from its batch, so that writing it again changes nothing; records follow the rows.
 * Neither is ever changed, and their timestamps are the servers': one made of the identity would lie before that of any deletion, which
 * would then hide what is stored again. Rows of the layout upsert are changed, and there the timestamp is the version.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: import('./connection.js').HbaseServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const keys = new BatchKeys()
  const began = remembered(() => beganMs(server))
  /** @type {import('../keyed/sink.js').Storage<import('./connection.js').HbaseServer, import('./tables.js').Plan>} */
  const storage = {
    dialect,
    place: server.place,
    isTransient,
    failure: 'SLUICE_SINK_HBASE',
    use: lending(() => server),
    prepareCommits,
    readCommits,
    nameStore,
    inMemory: true,
    tablesAtOnce: 4,
    find: findCommits,
    leave: leaveCommits,
    merge: mergeCommits,
    prepareTable: (_server, name, arranged, withSource) => prepareTable(server, { name, arranged, withSource }, options),
    async store (_server, places, { signal }) {
      const isUpsert = options.layout === UPSERT
      const sinceMs = isUpsert ? await began() : 0
      const rowsOf = function * (/** @type {typeof places} */ its) {
        for (const { plan, arranged } of its) {
          yield * isUpsert ? keyedRows(plan, arranged, sinceMs) : timedRows(plan, arranged, keys.of(arranged))
        }
      }
      for (const [table, its] of Map.groupBy(places, ({ plan }) => plan.table)) {
        await manyAtOnce(IN_FLIGHT, chunksOf(rowsOf(its)), rows => server.put(table, encodeRows(rows), signal), signal)
      }
    }
  }
  return keyedSink(options, storage)
}
