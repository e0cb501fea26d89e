import { KeyedReader } from '../keyed/reader.js'
import { quote } from '../names.js'
import { readerOptions } from '../reading/options.js'
import { UPSERT } from '../upsert/layout.js'
import { dialect, timestamp } from './dialect.js'
import { schema } from './reader.schema.js'
import { tableFacts } from './tables.js'

export { schema }

/**
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {import('./tables.js').TableFacts} TableFacts
 * @typedef {import('../keyed/reader.js').Times} Times
 */

const NS_PER_MS = 1_000_000n

/** Of columns that hold samples. */
const KINDS = ['double', 'float', 'bigint', 'int', 'smallint', 'tinyint', 'boolean', 'text', 'ascii', 'blob']

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server?: any}} context  `server`: a CassandraServer
 * @returns {Promise<import('../reader.js').Reader>}
 */
export async function open (given, { server }) {
  const options = readerOptions(schema, given)
  /** @type {import('../keyed/reader.js').Readable<TableFacts>} */
  const readable = {
    place: `the table "${options.table}" of ${server.place}`,
    code: 'SLUICE_QUERY_CASSANDRA',
    named: 'table and keyspace',
    ownNames: dialect.ownNames,
    kinds: KINDS,
    textKind: 'text',
    facts: signal => server.use((/** @type {Client} */ client) => tableFacts(client, server, options.table), signal),
    rows: (facts, columns, range) => facts.layout === UPSERT
      ? keyedRowsOf(server, facts, columns, range)
      : rowsOf(server, facts, columns, { ...range, source: options.source }),
    withKey: (facts, values, signal) => rowsWithKey(server, facts, values, signal)
  }
  return new KeyedReader(options, readable)
}

/**
 * The rows of a range, in the order of time.
 * @param {CassandraServer} server
 * @param {TableFacts} facts
 * @param {string[]} columns
 * @param {Times & {source: string}} range  of all sources where none is named
 * @returns {AsyncGenerator<any, void, void>}
 */
async function * rowsOf (server, facts, columns, range) {
  const { from, last, signal } = range
  const partitions = await server.use(client => partitionsOf(client, facts, range), signal)
  const partition = `bucket = ?${hasSource(facts) ? ' AND source = ?' : ''}`
  const select = `SELECT ${columns.map(quote).join(', ')} FROM ${facts.table} WHERE ${partition} ` +
    'AND (time, time_ns) >= (?, ?) AND (time, time_ns) <= (?, ?)'
  const limits = [from, last].flatMap(ns => [timestamp(ns), ns])
  for (const its of Map.groupBy(partitions, ({ bucket }) => bucket.getTime()).values()) {
    const found = await server.use(client => Promise.all(its.map(({ bucket, source }) =>
      client.execute(select, [bucket, ...hasSource(facts) ? [source] : [], ...limits]))), signal)
    yield * inOrder(found.map(result => result[Symbol.asyncIterator]()), signal)
  }
}

/**
 * All rows of a table that has a row for each key.
 * @param {CassandraServer} server
 * @param {TableFacts} facts
 * @param {string[]} columns
 * @param {Times} range
 */
async function * keyedRowsOf (server, facts, columns, { signal }) {
  const shown = facts.columns.map(({ name }) => name).filter(name => name === 'source' || columns.includes(name))
  const select = `SELECT ${shown.map(quote).join(', ')} FROM ${facts.table}`
  yield * await server.use(client => client.execute(select), signal)
}

/** Of whole numbers, by type. @type {Record<string, number>} */
const BITS = { bigint: 64, int: 32, smallint: 16 }

/**
 * @param {CassandraServer} server
 * @param {TableFacts} facts
 * @param {import('../reader.js').KeyValue[]} values
 * @param {AbortSignal} [signal]
 * @returns {Promise<any[]>}
 */
async function rowsWithKey (server, { table, columns, key }, values, signal) {
  const cells = values.map((value, i) => parameter(columns.find(({ name }) => name === key[i])?.kind ?? '', value))
  if (cells.includes(undefined) || String(cells) === '') return []
  const select = `SELECT * FROM ${table} WHERE ${key.map(name => `${quote(name)} = ?`).join(' AND ')}`
  return (await server.use(client => client.execute(select, cells), signal)).rows
}

/** As the driver takes it; undefined where no row can have it. @param {string} kind @param {import('../reader.js').KeyValue} value */
function parameter (kind, value) {
  if (!(kind in BITS)) return value
  const number = BigInt(value)
  if (BigInt.asIntN(BITS[kind], number) !== number) return undefined
  return kind === 'bigint' ? number : Number(number)
}

/**
 * Those that may have rows of a range, in the order of time.
 * @param {Client} client
 * @param {TableFacts} facts
 * @param {Times & {source: string}} range
 */
async function partitionsOf (client, facts, { from, last, source }) {
  const names = hasSource(facts) ? 'source, bucket' : 'bucket'
  /** @type {{bucket: Date, source?: string}[]} */
  const found = []
  for await (const row of await client.execute(`SELECT DISTINCT ${names} FROM ${facts.table}`)) {
    const start = BigInt(row.bucket.getTime()) * NS_PER_MS
    const isWanted = source === '' || row.source === undefined || row.source === source
    if (isWanted && start <= last && start + facts.bucketNs > from) found.push(/** @type {any} */ (row))
  }
  return found.sort((a, b) => a.bucket.getTime() - b.bucket.getTime())
}

/** Whether partitions are of a source each. @param {TableFacts} facts */
function hasSource ({ columns }) {
  return columns.some(({ name, isKey }) => name === 'source' && isKey)
}

/** The rows of several partitions, each in the order of time. @param {AsyncIterator<any>[]} partitions @param {AbortSignal} [signal] */
async function * inOrder (partitions, signal) {
  const heads = await Promise.all(partitions.map(async rows => ({ rows, next: await rows.next() })))
  for (let rest = heads.filter(({ next }) => !next.done); rest.length > 0; rest = rest.filter(({ next }) => !next.done)) {
    const first = rest.reduce((a, b) => b.next.value.time_ns < a.next.value.time_ns ? b : a)
    yield first.next.value
    signal?.throwIfAborted()
    first.next = await first.rows.next()
  }
}
