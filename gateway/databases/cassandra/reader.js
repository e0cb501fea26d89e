import { SluiceError, describe } from '../../base/errors.js'
import { KeyedReader } from '../keyed/reader.js'
import { quote } from '../names.js'
import { readerOptions } from '../reading/options.js'
import { ORIGIN } from '../upsert/layout.js'
import { dialect, timestamp } from './dialect.js'
import { schema } from './reader.schema.js'
import { tableFacts } from './tables.js'

export { schema }

/**
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {import('./tables.js').TableFacts} TableFacts
 * @typedef {{from: bigint, to: bigint, signal?: AbortSignal}} Times
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
    ownNames: dialect.ownNames,
    kinds: KINDS,
    textKind: 'text',
    facts: signal => server.use((/** @type {Client} */ client) => factsOf(client, server, options), signal),
    rows: (facts, columns, range) => (facts.isUpsert ? upsertRowsOf : rowsOf)(server, facts, columns, { ...range, source: options.source }),
    withKey: (facts, key, values, signal) => rowsWithKey(server, facts, { table: options.table, key, values, signal }),
    failure: error => new SluiceError('SLUICE_QUERY_CASSANDRA',
      `Cannot read the table "${options.table}" of ${server.place}: ${describe(error)}.`, { cause: error })
  }
  return new KeyedReader(options, readable)
}

/**
 * @param {Client} client
 * @param {CassandraServer} server
 * @param {import('../reading/table.js').TableOptions} options
 * @throws {SluiceError} SLUICE_QUERY_TABLE
 */
async function factsOf (client, server, { table, layout, sensorColumn }) {
  const facts = await tableFacts(client, server, table)
  const is = layoutOf(facts, sensorColumn)
  if (facts.exists && is === layout) return facts
  const what = facts.exists ? `is of the layout ${is}` : 'does not exist'
  throw new SluiceError('SLUICE_QUERY_TABLE', `The table "${table}" of ${server.place} ${what}.`, {
    fix: facts.exists ? 'Set the layout of the sink.' : 'Check table and keyspace; the sink creates the table with its first batch.'
  })
}

/** What it is to be read as. @param {TableFacts} facts @param {string} sensorColumn */
function layoutOf ({ columns, isDocument, isUpsert }, sensorColumn) {
  if (isDocument) return 'document'
  return !isUpsert && columns.some(({ name, isKey }) => name === sensorColumn && isKey) ? 'narrow' : 'wide'
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
  const { from, to, signal } = range
  const partitions = await server.use(client => partitionsOf(client, facts, range), signal)
  const partition = `bucket = ?${hasSource(facts) ? ' AND source = ?' : ''}`
  const select = `SELECT ${columns.map(quote).join(', ')} FROM ${facts.table} WHERE ${partition} ` +
    'AND (time, time_ns) >= (?, ?) AND (time, time_ns) < (?, ?)'
  const limits = [from, to].flatMap(ns => [timestamp(ns), ns])
  for (const its of Map.groupBy(partitions, ({ bucket }) => bucket.getTime()).values()) {
    const found = await server.use(client => Promise.all(its.map(({ bucket, source }) =>
      client.execute(select, [bucket, ...hasSource(facts) ? [source] : [], ...limits]))), signal)
    yield * inOrder(found.map(result => result[Symbol.asyncIterator]()), signal)
  }
}

/**
 * The rows of a range, of a table that has a row for each key, and so no order of time: those that are wanted are held in memory.
 * @param {CassandraServer} server
 * @param {TableFacts} facts
 * @param {string[]} columns
 * @param {Times & {source: string}} range
 */
async function * upsertRowsOf (server, facts, columns, { from, to, source, signal }) {
  const shown = [...columns, ...facts.columns.some(({ name }) => name === 'source') ? ['source'] : []]
  const select = `SELECT ${[...new Set(shown)].map(quote).join(', ')} FROM ${facts.table}`
  /** @type {any[]} */
  const found = []
  await server.use(async client => {
    for await (const row of await client.execute(select)) {
      const isWanted = source === '' || row.source === undefined || row.source === source
      if (isWanted && row.time_ns >= from && row.time_ns < to) found.push(row)
      signal?.throwIfAborted()
    }
  }, signal)
  yield * found.sort((a, b) => a.time_ns < b.time_ns ? -1 : a.time_ns > b.time_ns ? 1 : 0)
}

/** Selects under way at a time. */
const KEYS_AT_ONCE = 64

/** Of whole numbers, by type. @type {Record<string, number>} */
const BITS = { bigint: 64, int: 32, smallint: 16 }

/**
 * @param {CassandraServer} server
 * @param {TableFacts} facts
 * @param {{table: string, key: string[], values: import('../reader.js').KeyValue[][], signal?: AbortSignal}} asked
 * @returns {Promise<any[]>}
 * @throws {SluiceError} SLUICE_QUERY_TABLE
 */
async function rowsWithKey (server, facts, { table, key, values, signal }) {
  const its = facts.columns.filter(({ name, isKey }) => isKey && name !== ORIGIN).map(({ name }) => name)
  if (!facts.isUpsert || String(its.toSorted()) !== String(key.toSorted())) {
    throw new SluiceError('SLUICE_QUERY_TABLE', facts.isUpsert
      ? `The rows of the table "${table}" of ${server.place} are found by ${its.join(', ')}, not by ${key.join(', ')}.`
      : `The table "${table}" of ${server.place} is not of the layout upsert: its rows are not found by a key.`, {
      fix: 'Set the key that the sink has, with the layout upsert.'
    })
  }
  const kinds = key.map(name => facts.columns.find(column => column.name === name)?.kind ?? '')
  const select = `SELECT * FROM ${facts.table} WHERE ${key.map(name => `${quote(name)} = ?`).join(' AND ')}`
  const possible = values.map(cells => cells.map((cell, i) => parameter(kinds[i], cell)))
    .filter(cells => !cells.includes(undefined) && String(cells) !== '')
  /** @type {any[]} */
  const found = []
  for (let from = 0; from < possible.length; from += KEYS_AT_ONCE) {
    const results = await server.use(client =>
      Promise.all(possible.slice(from, from + KEYS_AT_ONCE).map(cells => client.execute(select, cells))), signal)
    found.push(...results.flatMap(({ rows }) => rows))
  }
  return found
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
async function partitionsOf (client, facts, { from, to, source }) {
  const names = hasSource(facts) ? 'source, bucket' : 'bucket'
  /** @type {{bucket: Date, source?: string}[]} */
  const found = []
  for await (const row of await client.execute(`SELECT DISTINCT ${names} FROM ${facts.table}`)) {
    const start = BigInt(row.bucket.getTime()) * NS_PER_MS
    const isWanted = source === '' || row.source === undefined || row.source === source
    if (isWanted && start < to && start + facts.bucketNs > from) found.push(/** @type {any} */ (row))
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
