import { SluiceError } from '../../base/errors.js'
import { reasonOf } from '../connecting/failure.js'
import { edgeOf, inOrder, minimumOf, summariesOf, summary } from '../reading/compute.js'
import { documentRange, documentSamples } from '../reading/documents.js'
import { Pages } from '../reading/pages.js'
import { withDefaults } from '../../base/defaults.js'
import { literal } from './quote.js'
import { schema } from './reader.schema.js'
import { ReadTable } from './reader-sql.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Summary} Summary
 * @typedef {import('./connection.js').ClickhouseServer} ClickhouseServer
 */

const SENSORS_A_STATEMENT = 100

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server?: ClickhouseServer}} context  whose connections it shares; one at a time for each query
 * @returns {Promise<Reader>}
 */
export async function open (options, { server }) {
  return new ClickhouseReader(/** @type {any} */ (withDefaults(schema, options)), /** @type {ClickhouseServer} */ (server))
}

/** @implements {Reader} */
class ClickhouseReader {
  #options
  #server

  /** @param {import('./reader-sql.js').TableOptions} options @param {ClickhouseServer} server */
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
    /** @type {Summary[]} */
    const summaries = []
    const add = (/** @type {string} */ bucket, /** @type {string} */ sensor, /** @type {(string|null)[]} */ cells) => {
      const numbers = cells.map(cell => cell === null ? undefined : Number(cell.replace('inf', 'Infinity')))
      const [count = 0] = numbers
      if (count === 0) return
      const values = Object.fromEntries(asked.map((name, i) => [name, name === 'stddev' && count < 2 ? undefined : numbers[i]]))
      summaries.push(summary(BigInt(bucket), sensor, values, statistics))
    }
    const table = await this.#table(signal)
    const known = sensors.filter(sensor => table.has(sensor))
    for (let first = 0; first < known.length; first += SENSORS_A_STATEMENT) {
      const some = known.slice(first, first + SENSORS_A_STATEMENT)
      for await (const [bucket, ...rest] of this.#rows(table.summaries(some, range, asked), signal)) {
        if (table.isNarrow) add(bucket, rest[0], rest.slice(1))
        else some.forEach((sensor, i) => add(bucket, sensor, rest.slice(i * asked.length, (i + 1) * asked.length)))
      }
    }
    return inOrder(summaries, sensors)
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    if (this.#options.layout === 'document') return edgeOf(this, range)
    const table = await this.#table(range.signal)
    return table.has(range.sensor) ? this.#timeIn(table.edge(range), range.signal) : null
  }

  /** @type {Reader['minimum']} */
  async minimum (range) {
    if (this.#options.layout === 'document') return minimumOf(this, range)
    const table = await this.#table(range.signal)
    return table.has(range.sensor) ? this.#timeIn(table.minimum(range), range.signal) : null
  }

  /** The connections are the server's. */
  async close () {}

  /** @param {Parameters<Reader['samples']>[0]} range */
  async * #pages (range) {
    const table = await this.#table(range.signal)
    const known = range.sensors.filter(sensor => table.has(sensor))
    if (known.length === 0) return
    const pages = new Pages(range)
    const columns = table.isNarrow ? table.valueColumns : known
    const valueOf = columns.map(column => table.valueOf(column))
    for await (const [ns, ...cells] of this.#rows(table.samples(known, range), range.signal)) {
      const time = BigInt(ns)
      const sensor = table.isNarrow ? cells.shift() : null
      for (let i = 0; i < cells.length; i++) if (cells[i] !== null) pages.add(time, sensor ?? known[i], valueOf[i](cells[i]))
      yield * pages.full()
    }
    yield * pages.rest()
  }

  /** @param {import('../reader.js').Range} range */
  async * #documents (range) {
    const table = await this.#table(range.signal)
    const { first, to } = documentRange(range, table.intervalNs)
    for await (const [ns, measurements] of this.#rows(table.documents({ from: first, to }), range.signal)) {
      if (measurements !== null) yield { time: BigInt(ns), measurements }
    }
  }

  /** @param {string} statement @param {AbortSignal} [signal] */
  async #timeIn (statement, signal) {
    for await (const [ns] of this.#rows(statement, signal)) return BigInt(ns)
    return null
  }

  /** @param {AbortSignal} [signal] */
  async #table (signal) {
    /** @type {[string, string][]} */
    const columns = []
    const statement = `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = ${literal(this.#options.table)}`
    for await (const [name, type] of this.#rows(statement, signal)) columns.push([name, type])
    return new ReadTable(this.#options, columns)
  }

  /** @param {string} statement @param {AbortSignal} [signal] @returns {AsyncGenerator<any[], void, void>} */
  async * #rows (statement, signal) {
    signal?.throwIfAborted()
    try {
      for await (const rows of this.#server.stream(statement, { signal })) yield * rows
    } catch (error) {
      if (signal?.aborted || (error instanceof SluiceError && error.code !== 'SLUICE_SINK_CLICKHOUSE')) throw error
      const { cause } = /** @type {Error} */ (error)
      throw new SluiceError('SLUICE_QUERY_CLICKHOUSE', `${this.#server.place}, table "${this.#options.table}": ${reasonOf(cause ?? error)}.`, { cause: error })
    }
  }
}
