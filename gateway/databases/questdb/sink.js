import { withDefaults } from '../../base/defaults.js'
import { Batch } from '../../batch/batch.js'
import { fieldKind } from '../../messages/codecs/line-protocol/kinds.js'
import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { storeRecord } from '../commit-records.js'
import { AnswerError } from '../http.js'
import { HttpStore, isTooLarge } from '../influxdb/store.js'
import { BatchKeys } from '../keyed/batch-keys.js'
import { keyedSink, lending } from '../keyed/sink.js'
import { COMMITS_TABLE } from '../names.js'
import { isRefusal } from '../refusal.js'
import { infinite, least, refuseUnfit, rowsWhere } from '../unfit.js'
import { prepareCommits, readCommits, writeCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { schema } from './sink.schema.js'
import { agingTable, checkTables, idOf, prepareTable } from './tables.js'

export { schema }

/**
 * @typedef {import('./connection.js').QuestdbServer} QuestdbServer
 * @typedef {{id: number}} Session  `id` of the table of commit records
 */

/** How QuestDB says that a line is at fault: then it has stored nothing of the request. */
const REFUSED = /error in line \d+/i

/** The designated timestamp begins in 1970, and ends with 2261. */
const LAST = 9_214_646_399_999_999_999n

/** The least LONG is NULL. */
const UNFIT = {
  product: 'QuestDB',
  fields: { float64: infinite, float32: infinite, int64: least },
  times: (/** @type {BigInt64Array} */ column) => rowsWhere(column, time => time < 0n || time > LAST)
}

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, cause => cause instanceof AnswerError && (cause.status === 413 || REFUSED.test(cause.message)))
}

/**
 * Rows of the same key take each other's place, as tables have DEDUP UPSERT KEYS.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: QuestdbServer}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const keys = new BatchKeys()
  const smaller = new HttpStore({ write: (_place, lines, signal) => server.write([lines], signal) })
  /** @type {Session} */
  const session = { id: -1 }
  /** @type {import('../keyed/sink.js').Storage<Session, import('./tables.js').Plan>} */
  const storage = {
    dialect,
    place: server.place,
    isTransient,
    failure: 'SLUICE_SINK_QUESTDB',
    use: lending(() => session),
    async prepareCommits () {
      await prepareCommits(server)
      session.id = await idOf(server, COMMITS_TABLE)
    },
    readCommits: () => readCommits(server),
    nameStore: (_session, id) => writeCommits(server, [storeRecord(id)]),
    mayNameTwice: true,
    inMemory: true,
    find: (_session, claims) => readCommits(server, claims),
    leave: (_session, records, signal) => writeCommits(server, records, signal),
    merge: (_session, merged) => writeCommits(server, merged),
    prepareTable: (_session, name, arranged, withSource) => prepareTable(server, { name, arranged, withSource }, options),
    agingTable: (_session, name) => agingTable(server, name),
    async store (_session, places, { signal }) {
      refuseUnfit(places.map(({ batch }) => batch), UNFIT)
      await checkTables(server, [{ table: COMMITS_TABLE, id: session.id }, ...places.map(({ plan }) => plan)])
      // A request is a commit of its own, which takes the server milliseconds.
      const parts = places.map(({ arranged, plan }) => linesOf(plan, arranged, keys))
      await server.write({ [Symbol.iterator]: () => encodeLines(parts) }, signal).catch(error => {
        if (!isTooLarge(error)) throw error
        return smaller.write(parts, { database: '', policy: '', keptNs: 0n }, signal)
      })
    }
  }
  return keyedSink(options, storage)
}

/**
 * QuestDB takes a backslash for the beginning of an escape in tags, too.
 * @param {import('../../batch/tags.js').Tag} tag
 * @returns {import('../../batch/tags.js').Tag}
 */
function escaped (tag) {
  const escape = (/** @type {string} */ value) => value?.replaceAll('\\', '\\\\')
  if (typeof tag === 'string') return escape(tag)
  return tag.values.some(value => value?.includes('\\')) ? { ...tag, values: tag.values.map(escape) } : tag
}

/** @param {import('../../batch/batch.js').FieldType} type */
function kindOf (type) {
  if (type === 'float64') return 'binary'
  return type === 'string' ? 'text' : fieldKind(type)
}

/**
 * @param {import('./tables.js').Plan} plan
 * @param {Batch} arranged
 * @param {BatchKeys} keys
 * @returns {import('../../messages/codecs/line-protocol/line-protocol.js').Lines}
 */
export function linesOf ({ table, columns }, arranged, keys) {
  const { fields, tags, source, rows } = arranged
  const numbers = new Int32Array(rows)
  for (let row = 0; row < rows; row++) numbers[row] = arranged.rowNumber(row)
  const batch = new Batch({
    ...arranged,
    fields: [...fields, { name: 'sluice_row', type: 'int32' }],
    columns: [...arranged.columns, numbers],
    validity: [...arranged.validity, null]
  })
  return {
    batch,
    measurement: table,
    isKeyed: true,
    tags: [{ name: 'sluice_batch', value: keys.of(arranged).toString('base64url') }, ...columns.flatMap(({ name, origin, tag = '' }) => {
      return origin === 'field' ? [] : [{ name, value: escaped(origin === 'source' ? source : tags[tag]) }]
    })],
    fields: [{ name: 'sluice_row', field: fields.length, kind: 'integer' }, ...columns.flatMap(({ name, field }) => {
      return field === undefined ? [] : [{ name, field, kind: kindOf(fields[field].type) }]
    })]
  }
}
