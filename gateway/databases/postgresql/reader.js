import { SluiceError, describe } from '../../base/errors.js'
import { edgeOf, inOrder, minimumOf, MAX_SUMMARIES, summariesOf, summary, tooManySummaries } from '../reading/compute.js'
import { documentRange, documentSamples } from '../reading/documents.js'
import { handedOver } from '../reading/handover.js'
import { PAGE_ROWS, Pages } from '../reading/pages.js'
import { bytesText, whole } from '../reading/values.js'
import { withDefaults } from '../../base/defaults.js'
import { schema } from './reader.schema.js'
import { nameOf, READ_COLUMNS, ReadTable } from './reader-sql.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('./connection.js').Client} Client
 * @typedef {import('./connection.js').PostgresqlServer} PostgresqlServer
 * @typedef {import('./reader-sql.js').Statement} Statement
 */

const DOCUMENTS_A_FETCH = 50
const SENSORS_A_STATEMENT = 100

/** How long the server goes on with a query after its connection has been broken off; where it can tell, which Windows cannot. */
const NOTICE_BROKEN_CONNECTIONS = `SELECT set_config(name, '1s', false) FROM pg_settings WHERE name = 'client_connection_check_interval' AND setting = '0' AND version() !~* 'visual c|msvc|mingw|windows'`

/** @type {WeakSet<Client>} */
const noticing = new WeakSet()

/** By the OID of a type; all others as text. @type {Record<number, (text: string) => unknown>} */
const PARSERS = {
  16: text => text === 't',
  17: text => bytesText(Buffer.from(text.slice(2), 'hex')),
  20: text => whole(BigInt(text)),
  21: Number,
  23: Number,
  700: text => Math.fround(Number(text)),
  701: Number,
  1700: Number
}

const types = { getTypeParser: (/** @type {number} */ oid) => PARSERS[oid] ?? String }

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server?: PostgresqlServer}} context  whose connections it shares; one at a time for each query
 * @returns {Promise<Reader>}
 */
export async function open (options, { server }) {
  return new PostgresqlReader(/** @type {any} */ (withDefaults(schema, options)), /** @type {PostgresqlServer} */ (server))
}

/** @implements {Reader} */
class PostgresqlReader {
  #options
  #server

  /** @param {import('./reader-sql.js').TableOptions} options @param {PostgresqlServer} server */
  constructor (options, server) {
    this.#options = options
    this.#server = server
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    const pages = this.#options.layout === 'document' ? documentSamples(this.#documents(range), range) : this.#pages(range)
    for await (const page of pages) {
      yield page
      range.signal?.throwIfAborted()
    }
  }

  /** @type {Reader['summaries']} */
  async summaries (range) {
    if (this.#options.layout === 'document') return summariesOf(this, range)
    const { sensors, statistics, signal } = range
    /** @type {import('../reader.js').Statistic[]} */
    const asked = ['count', ...statistics.filter(name => name !== 'count')]
    return this.#attempt(signal, async (client, table) => {
      /** @type {import('../reader.js').Summary[]} */
      const summaries = []
      const add = (/** @type {any} */ bucket, /** @type {string} */ sensor, /** @type {any[]} */ numbers) => {
        if (numbers[0] > 0) summaries.push(summary(BigInt(bucket), sensor, Object.fromEntries(asked.map((name, i) => [name, numbers[i]])), statistics))
      }
      const known = sensors.filter(sensor => table.has(sensor))
      for (let first = 0; first < known.length; first += SENSORS_A_STATEMENT) {
        const some = known.slice(first, first + SENSORS_A_STATEMENT)
        const mostRows = Math.floor(MAX_SUMMARIES / (table.isNarrow ? 1 : known.length))
        const { text, values } = table.summaries(some, range, asked)
        const rows = await rowsOf(client, { text: `${text} LIMIT ${mostRows + 1}`, values })
        if (rows.length > mostRows || summaries.length + rows.length > MAX_SUMMARIES) throw tooManySummaries()
        for (const [bucket, ...rest] of rows) {
          if (table.isNarrow) add(bucket, rest[0], rest.slice(1))
          else some.forEach((sensor, i) => add(bucket, sensor, rest.slice(i * asked.length, (i + 1) * asked.length)))
        }
      }
      return inOrder(summaries, sensors)
    })
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    if (this.#options.layout === 'document') return edgeOf(this, range)
    return this.#attempt(range.signal, async (client, table) => table.has(range.sensor) ? timeIn(await rowsOf(client, table.edge(range))) : null)
  }

  /** @type {Reader['minimum']} */
  async minimum (range) {
    if (this.#options.layout === 'document') return minimumOf(this, range)
    return this.#attempt(range.signal, async (client, table) => table.has(range.sensor) ? timeIn(await rowsOf(client, table.minimum(range))) : null)
  }

  /** The connections are the server's. */
  async close () {}

  /** @param {Parameters<Reader['samples']>[0]} range */
  #pages (range) {
    const { sensors, pageRows = PAGE_ROWS, signal } = range
    return handedOver((/** @type {(page: import('../reader.js').Sample[]) => Promise<boolean>} */ give) => this.#attempt(signal, async (client, table) => {
      const known = sensors.filter(sensor => table.has(sensor))
      if (known.length === 0) return
      const pages = new Pages({ sensors, pageRows })
      const rowsAFetch = Math.ceil(pageRows / (table.isNarrow ? 1 : known.length))
      for await (const rows of fetches(client, table.samples(known, range), rowsAFetch)) {
        for (const [time, ...cells] of rows) addRow(pages, table.isNarrow, known, BigInt(time), cells)
        for (const page of pages.full()) if (!await give(page)) return
      }
      for (const page of pages.rest()) if (!await give(page)) return
    }))
  }

  /** @param {import('../reader.js').Range} range */
  async * #documents (range) {
    const fetched = handedOver((/** @type {(rows: any[][]) => Promise<boolean>} */ give) => this.#attempt(range.signal, async (client, table) => {
      const { first, to } = documentRange(range, table.intervalNs)
      for await (const rows of fetches(client, table.documents({ from: first, to }), DOCUMENTS_A_FETCH)) if (!await give(rows)) return
    }))
    for await (const rows of fetched) {
      for (const [time, measurements] of rows) yield { time: BigInt(time), measurements }
    }
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(client: Client, table: ReadTable) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (signal, work) {
    try {
      return await this.#server.read(async client => {
        if (!noticing.has(client)) await client.query(NOTICE_BROKEN_CONNECTIONS)
        noticing.add(client)
        const { rows } = await client.query({ name: 'sluice_read_columns', text: READ_COLUMNS, values: [nameOf(this.#options)] })
        return await work(client, new ReadTable(this.#options, rows))
      }, signal)
    } catch (error) {
      if (signal?.aborted || error instanceof SluiceError) throw error
      throw new SluiceError('SLUICE_QUERY_POSTGRESQL', `${this.#server.place}, table ${nameOf(this.#options)}: ${describe(error)}.`, { cause: error })
    }
  }
}

/**
 * The rows of a statement, some at a time, as they are asked for. What a reading sees is one state of the database.
 * @param {Client} client
 * @param {Statement} statement
 * @param {number} rows  of each fetch
 * @returns {AsyncGenerator<any[][], void, void>}
 */
async function * fetches (client, { text, values }, rows) {
  await client.query('BEGIN READ ONLY')
  try {
    await client.query(`DECLARE sluice NO SCROLL CURSOR FOR ${text}`, values)
    for (;;) {
      const fetched = await rowsOf(client, { text: `FETCH ${rows} FROM sluice`, values: [] })
      if (fetched.length > 0) yield fetched
      if (fetched.length < rows) return
    }
  } finally {
    await client.query('ROLLBACK').catch(() => {}) // it fails where the connection has ended, which is the error already on its way
  }
}

/** @param {Client} client @param {Statement} statement @returns {Promise<any[][]>} */
async function rowsOf (client, { text, values }) {
  const { rows } = await client.query({ text, values, rowMode: 'array', types })
  return rows
}

/** @param {Pages} pages @param {boolean} isNarrow @param {string[]} sensors @param {bigint} time @param {any[]} cells */
function addRow (pages, isNarrow, sensors, time, cells) {
  if (isNarrow) {
    const [sensor, ...values] = cells
    const value = values.find(each => each !== null)
    if (value !== undefined) pages.add(time, sensor, value)
    return
  }
  for (let i = 0; i < cells.length; i++) if (cells[i] !== null) pages.add(time, sensors[i], cells[i])
}

/** @param {any[][]} rows */
function timeIn (rows) {
  return rows.length === 0 ? null : BigInt(rows[0][0])
}
