import { SluiceError, describe } from '../../base/errors.js'
import { quote } from '../names.js'
import { edgeOf, minimumOf, summariesOf } from '../reading/compute.js'
import { readerOptions } from '../reading/options.js'
import { PAGE_ROWS, Pages } from '../reading/pages.js'
import { bytesOf, bytesText, whole } from '../reading/values.js'
import { tagColumnOf } from '../wide.js'
import { dialect } from './dialect.js'
import { schema } from './reader.schema.js'
import { tableFacts } from './tables.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reader.js').Range} Range
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./connection.js').CassandraServer} CassandraServer
 * @typedef {import('./tables.js').TableFacts} TableFacts
 * @typedef {Record<string, any> & {time_ns: bigint}} Row
 */

const NS_PER_MS = 1_000_000n

/** The columns of narrow values, by what follows the first one's name. */
const NARROW_COLUMNS = ['', '_int64', '_string', '_bytes']

/** Of columns that hold samples. */
const KINDS = ['double', 'float', 'bigint', 'int', 'smallint', 'tinyint', 'boolean', 'text', 'ascii', 'blob']

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server?: any}} context  `server`: a CassandraServer
 * @returns {Promise<Reader>}
 */
export async function open (options, { server }) {
  return new CassandraReader(readerOptions(schema, options), server)
}

/** @implements {Reader} */
class CassandraReader {
  #options
  #server

  /** @param {import('../reading/table.js').TableOptions} options @param {CassandraServer} server */
  constructor (options, server) {
    this.#options = options
    this.#server = server
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    const { sensors, tags = {}, pageRows = PAGE_ROWS, signal } = range
    const facts = await this.#attempt(signal, client => this.#facts(client))
    const columns = this.#valueColumns(facts, sensors)
    const chooses = Object.entries(tags).map(([tag, values]) => chooser(facts, tag, values))
    if (columns.length === 0) return
    const { layout, sensorColumn } = this.#options
    const isNarrow = layout === 'narrow'
    const pages = new Pages({ sensors, pageRows })
    const shown = ['time_ns', ...isNarrow ? [sensorColumn] : [], ...columns, ...chooses.flatMap(({ column }) => column ?? [])]
    for await (const row of this.#rows(facts, [...new Set(shown)], range)) {
      if (!chooses.every(({ matches }) => matches(row))) continue
      for (const column of columns) {
        const sensor = isNarrow ? row[sensorColumn] : column
        if (row[column] !== null && pages.has(sensor)) pages.add(row.time_ns, sensor, valueOf(row[column]))
      }
      for (const page of pages.full()) {
        yield page
        signal?.throwIfAborted()
      }
    }
    for (const page of pages.rest()) {
      yield page
      signal?.throwIfAborted()
    }
  }

  /** @type {Reader['summaries']} */
  summaries (range) { return summariesOf(this, range) }

  /** @type {Reader['edge']} */
  edge (range) { return edgeOf(this, range) }

  /** @type {Reader['minimum']} */
  minimum (range) { return minimumOf(this, range) }

  /** The connections are the server's. */
  async close () {}

  /**
   * The rows of a range, in the order of time.
   * @param {TableFacts} facts @param {string[]} columns @param {Omit<Range, 'sensors'>} range @returns {AsyncGenerator<Row, void, void>}
   */
  async * #rows (facts, columns, range) {
    const { from, to, signal } = range
    const partitions = await this.#attempt(signal, client => this.#partitions(client, facts, range))
    const partition = `bucket = ?${hasSource(facts) ? ' AND source = ?' : ''}`
    const select = `SELECT ${columns.map(quote).join(', ')} FROM ${facts.table} WHERE ${partition} ` +
      'AND (time, time_ns) >= (?, ?) AND (time, time_ns) < (?, ?)'
    const limits = [from, to].flatMap(ns => [timestamp(ns), ns])
    for (const its of Map.groupBy(partitions, ({ bucket }) => bucket.getTime()).values()) {
      const found = await this.#attempt(signal, client => Promise.all(its.map(({ bucket, source }) =>
        client.execute(select, [bucket, ...hasSource(facts) ? [source] : [], ...limits]))))
      try {
        yield * inOrder(found.map(result => result[Symbol.asyncIterator]()), signal)
      } catch (error) {
        throw signal?.aborted ? signal.reason : this.#failure(error)
      }
    }
  }

  /**
   * Those that may have rows of a range, in the order of time.
   * @param {Client} client
   * @param {TableFacts} facts
   * @param {{from: bigint, to: bigint}} range
   */
  async #partitions (client, facts, { from, to }) {
    const { source } = this.#options
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

  /** @param {Client} client @throws {SluiceError} SLUICE_QUERY_TABLE */
  async #facts (client) {
    const { table, layout, sensorColumn } = this.#options
    const facts = await tableFacts(client, this.#server, table)
    const isNarrow = facts.columns.some(({ name, isKey }) => name === sensorColumn && isKey)
    if (facts.exists && isNarrow === (layout === 'narrow')) return facts
    const what = facts.exists ? `is of the layout ${isNarrow ? 'narrow' : 'wide'}` : 'does not exist'
    throw new SluiceError('SLUICE_QUERY_TABLE', `The table "${table}" of ${this.#server.place} ${what}.`, {
      fix: facts.exists ? 'Set the layout of the sink.' : 'Check table and keyspace; the sink creates the table with its first batch.'
    })
  }

  /** The columns that values of these sensors can be in. @param {TableFacts} facts @param {string[]} sensors */
  #valueColumns ({ columns }, sensors) {
    const { layout, valueColumn } = this.#options
    const wanted = layout === 'narrow' ? NARROW_COLUMNS.map(end => valueColumn + end) : sensors
    const holds = columns.filter(({ name, kind }) => KINDS.includes(kind) && !dialect.ownNames.includes(name)).map(({ name }) => name)
    return sensors.length === 0 ? [] : [...new Set(wanted)].filter(name => holds.includes(name))
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(client: Client) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (signal, work) {
    try {
      return await this.#server.use(work, signal)
    } catch (error) {
      throw signal?.aborted ? signal.reason : this.#failure(error)
    }
  }

  /** @param {unknown} error */
  #failure (error) {
    if (error instanceof SluiceError) return error
    return new SluiceError('SLUICE_QUERY_CASSANDRA', `Cannot read the table "${this.#options.table}" of ${this.#server.place}: ` +
      `${describe(error)}.`, { cause: error })
  }
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

/** The column time of a row of that time. @param {bigint} ns */
function timestamp (ns) {
  const buffer = Buffer.alloc(8)
  buffer.writeBigInt64BE(ns >= 0n ? ns / NS_PER_MS : -((-ns + NS_PER_MS - 1n) / NS_PER_MS))
  return buffer
}

/** @param {TableFacts} facts @param {string} tag @param {(string|null)[]} values */
function chooser ({ columns }, tag, values) {
  const column = [tagColumnOf(tag), tag].find(name => columns.some(each => each.name === name && each.kind === 'text'))
  return { column, matches: (/** @type {Row} */ row) => values.includes(column === undefined ? null : row[column]) }
}

/** @param {any} value @returns {Sample['value']} */
function valueOf (value) {
  if (typeof value === 'bigint') return whole(value)
  const bytes = bytesOf(value)
  return bytes ? bytesText(bytes) : value
}
