import { SluiceError, describe } from '../../base/errors.js'
import { edgeOf, inOrder, minimumOf, summariesOf, summary } from '../reading/compute.js'
import { documentRange, documentSamples } from '../reading/documents.js'
import { handedOver } from '../reading/handover.js'
import { PAGE_ROWS, Pages } from '../reading/pages.js'
import { withDefaults } from '../../base/defaults.js'
import { schema } from './reader.schema.js'
import { READ_COLUMNS, ReadTable } from './reader-sql.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./connection.js').MysqlServer} MysqlServer
 * @typedef {import('./reader-sql.js').Statement} Statement
 */

const ROWS_AHEAD = 1000
const DOCUMENTS_AHEAD = 10
const SENSORS_A_STATEMENT = 100

const LEFT = new Error('nobody wants the rest of these rows')

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server?: MysqlServer}} context  whose connections it shares; one at a time for each query
 * @returns {Promise<Reader>}
 */
export async function open (options, { server }) {
  return new MysqlReader(/** @type {any} */ (withDefaults(schema, options)), /** @type {MysqlServer} */ (server))
}

/** @implements {Reader} */
class MysqlReader {
  #options
  #server

  /** @param {import('./reader-sql.js').TableOptions} options @param {MysqlServer} server */
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
    return this.#attempt(signal, async (connection, table) => {
      /** @type {import('../reader.js').Summary[]} */
      const summaries = []
      const add = (/** @type {any} */ bucket, /** @type {string} */ sensor, /** @type {any[]} */ numbers) => {
        if (numbers[0] > 0) summaries.push(summary(BigInt(bucket), sensor, Object.fromEntries(asked.map((name, i) => [name, numbers[i]])), statistics))
      }
      const known = sensors.filter(sensor => table.has(sensor))
      for (let first = 0; first < known.length; first += SENSORS_A_STATEMENT) {
        const some = known.slice(first, first + SENSORS_A_STATEMENT)
        for (const [bucket, ...rest] of await rowsOf(connection, table.summaries(some, range, asked))) {
          if (table.isNarrow) add(bucket, String(rest[0]), rest.slice(1))
          else some.forEach((sensor, i) => add(bucket, sensor, rest.slice(i * asked.length, (i + 1) * asked.length)))
        }
      }
      return inOrder(summaries, sensors)
    })
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    if (this.#options.layout === 'document') return edgeOf(this, range)
    return this.#attempt(range.signal, async (connection, table) => table.has(range.sensor) ? timeIn(await rowsOf(connection, table.edge(range))) : null)
  }

  /** @type {Reader['minimum']} */
  async minimum (range) {
    if (this.#options.layout === 'document') return minimumOf(this, range)
    return this.#attempt(range.signal, async (connection, table) => table.has(range.sensor) ? timeIn(await rowsOf(connection, table.minimum(range))) : null)
  }

  /** The connections are the server's. */
  async close () {}

  /** @param {Parameters<Reader['samples']>[0]} range */
  #pages (range) {
    const { sensors, pageRows = PAGE_ROWS, signal } = range
    return handedOver((/** @type {(page: import('../reader.js').Sample[]) => Promise<boolean>} */ give) => this.#reading(signal, async (connection, table, leave) => {
      const known = sensors.filter(sensor => table.has(sensor))
      if (known.length === 0) return
      const pages = new Pages({ sensors, pageRows })
      const addRow = rowAdder(pages, table, known)
      for await (const [time, ...cells] of streamed(connection, table.samples(known, range), Math.min(ROWS_AHEAD, pageRows))) {
        addRow(BigInt(time), cells)
        for (const page of pages.full()) if (!await give(page)) return leave()
      }
      for (const page of pages.rest()) if (!await give(page)) return
    }))
  }

  /** @param {import('../reader.js').Range} range */
  #documents (range) {
    return handedOver((/** @type {(row: import('../reading/documents.js').DocumentRow) => Promise<boolean>} */ give) => this.#reading(range.signal, async (connection, table, leave) => {
      const { first, to } = documentRange(range, table.intervalNs)
      for await (const [time, measurements] of streamed(connection, table.documents({ from: first, to }), DOCUMENTS_AHEAD)) {
        if (!await give({ time: BigInt(time), measurements })) return leave()
      }
    }))
  }

  /**
   * A reading that can be left before its end: the server still has rows to send on the connection, which is then given up.
   * @param {AbortSignal|undefined} signal
   * @param {(connection: Connection, table: ReadTable, leave: () => void) => Promise<void>} work
   */
  async #reading (signal, work) {
    const left = new AbortController()
    try {
      await this.#attempt(signal ? AbortSignal.any([signal, left.signal]) : left.signal, async (connection, table) => {
        await work(connection, table, () => left.abort(LEFT))
        left.signal.throwIfAborted()
      })
    } catch (error) {
      if (error !== LEFT) throw error
    }
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(connection: Connection, table: ReadTable) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (signal, work) {
    try {
      return await this.#server.read(async connection => {
        const [columns] = await connection.execute(READ_COLUMNS, [this.#options.table])
        return await work(connection, new ReadTable(this.#options, /** @type {any} */ (columns)))
      }, signal)
    } catch (error) {
      if (signal?.aborted || error instanceof SluiceError) throw error
      throw new SluiceError('SLUICE_QUERY_MYSQL', `${this.#server.place}, table "${this.#options.table}": ${describe(error)}.`, { cause: error })
    }
  }
}

/**
 * The rows of a statement as they come, no more than so many ahead of what is asked for. What a reading sees is one state of the database.
 * @param {Connection} connection
 * @param {Statement} statement
 * @param {number} rowsAhead
 * @returns {AsyncGenerator<any[], void, void>}
 */
async function * streamed (connection, statement, rowsAhead) {
  const driver = /** @type {any} */ (connection.connection)
  const rows = driver.execute({ ...statement, rowsAsArray: true }).stream({ highWaterMark: rowsAhead })
  // The driver tells the end of a connection to its statements only where they have callbacks.
  const onError = (/** @type {Error} */ error) => rows.destroy(error)
  driver.once('error', onError)
  try {
    yield * rows
  } finally {
    driver.off('error', onError)
  }
}

/** @param {Connection} connection @param {Statement} statement @returns {Promise<any[][]>} */
async function rowsOf (connection, statement) {
  const [rows] = await connection.execute({ ...statement, rowsAsArray: true })
  return /** @type {any} */ (rows)
}

/** @param {Pages} pages @param {ReadTable} table @param {string[]} sensors @returns {(time: bigint, cells: any[]) => void} */
function rowAdder (pages, table, sensors) {
  if (!table.isNarrow) {
    const valueOf = sensors.map(sensor => table.valueOf(sensor))
    return (time, cells) => cells.forEach((cell, i) => {
      if (cell !== null) pages.add(time, sensors[i], valueOf[i](cell))
    })
  }
  const valueOf = table.valueColumns.map(column => table.valueOf(column))
  return (time, [sensor, ...cells]) => {
    const i = cells.findIndex(cell => cell !== null)
    if (i >= 0) pages.add(time, String(sensor), valueOf[i](cells[i]))
  }
}

/** @param {any[][]} rows */
function timeIn (rows) {
  return rows.length === 0 ? null : BigInt(rows[0][0])
}
