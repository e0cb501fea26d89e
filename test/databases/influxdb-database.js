import { open } from '../../gateway/databases/influxdb/sink.js'
import { connect } from '../../gateway/databases/influxdb/connection.js'
import { missingInfluxdb, startInfluxdb } from '../servers/influxdb.js'
import { requireServer } from '../servers/programs.js'
import { TestDatabase } from './test-database.js'

/**
 * A server for the tests of a suite, and a database for each of them.
 * @extends {TestDatabase<import('../../gateway/databases/influxdb/connection.js').InfluxdbServer>}
 */
export class InfluxdbDatabase extends TestDatabase {
  /** @type {import('../servers/influxdb.js').InfluxdbServer} */
  server = /** @type {any} */ (null)
  name = ''
  #databases = 0

  /** Has mocha start it, and drop each test's database. */
  static inSuite () {
    const database = new InfluxdbDatabase({ connect, open })
    before(async function () {
      requireServer(this, 'influxdb', missingInfluxdb())
      database.server = await startInfluxdb()
    })
    beforeEach(() => { database.name = `plant ${database.#databases++}` })
    afterEach(() => database.#close())
    after(() => database.server?.remove())
    return database
  }

  /** @override */
  get options () {
    const { port, user, password } = this.server
    return { host: '127.0.0.1', port, user, password, database: this.name }
  }

  /** @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  storeAll = async (...batches) => {
    const sink = await this.openSink()
    await sink.prepare(batches)
    await sink.write(batches)
    return sink
  }

  /** @param {string} statement */
  query = statement => this.server.query(statement, { db: this.name })

  /**
   * As the contract expects them: without the tags gateway and row, except of commit records.
   * @param {string} table
   * @param {string} [policy]
   * @returns {Promise<Record<string, any>[]>}
   */
  rows = async (table, policy) => {
    const quoted = `"${table.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    const { series = [] } = await this.query(`SELECT * FROM ${policy ? `"${policy}".` : ''}${quoted}`)
    return series.flatMap((/** @type {any} */ { columns, values }) => values.map((/** @type {any[]} */ row) => {
      const cells = columns.map((/** @type {string} */ column, /** @type {number} */ i) => [column, plain(column, row[i])])
      return Object.fromEntries(cells.filter((/** @type {[string, unknown]} */ [column]) => {
        return table === 'sluice_commits' || (column !== 'gateway' && column !== 'row')
      }))
    }))
  }

  async #close () {
    await this.closeOpened()
    await this.server.query(`DROP DATABASE "${this.name}"`)
  }
}

/** @param {bigint} time  in nanoseconds */
export function daysSince (time) {
  return Math.round((Date.now() - Number(time / 1_000_000n)) / 86_400_000)
}

/** As the contract expects them. @param {string} column @param {any} value */
function plain (column, value) {
  if (column === 'time') return BigInt(value)
  if (typeof value === 'boolean') return Number(value)
  return /bytes|blob/i.test(column) && value !== null ? `0x${Buffer.from(value, 'base64').toString('hex')}` : value
}
