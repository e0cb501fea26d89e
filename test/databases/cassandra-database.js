import cassandra from 'cassandra-driver'
import { connect } from '../../gateway/databases/cassandra/connection.js'
import { tableName } from '../../gateway/databases/cassandra/dialect.js'
import { open } from '../../gateway/databases/cassandra/sink.js'
import { missingCassandra, startCassandra } from '../servers/cassandra.js'
import { requireServer } from '../servers/programs.js'
import { plain, TestDatabase } from './test-database.js'

/**
 * A Cassandra server for the tests of a suite, and a keyspace for each of them.
 * @extends {TestDatabase<import('../../gateway/databases/cassandra/connection.js').CassandraServer>}
 */
export class CassandraDatabase extends TestDatabase {
  /** @type {import('../servers/cassandra.js').CassandraServer} */
  server = /** @type {any} */ (null)
  /** @type {cassandra.Client} */
  client = /** @type {any} */ (null)
  #tests = 0

  /** Call it within `describe`. */
  static inSuite () {
    const database = new CassandraDatabase({ connect, open })
    before(async function () {
      this.timeout(300_000)
      requireServer(this, 'cassandra', missingCassandra())
      database.server = await startCassandra()
      database.client = new cassandra.Client({
        contactPoints: ['127.0.0.1'],
        localDataCenter: 'datacenter1',
        protocolOptions: { port: database.server.port },
        policies: { reconnection: new cassandra.policies.reconnection.ConstantReconnectionPolicy(200) },
        encoding: { useBigIntAsLong: true }
      })
    })
    beforeEach(() => { database.#tests++ })
    afterEach(() => database.closeOpened())
    after(async function () {
      this.timeout(60_000)
      await database.client?.shutdown()
      await database.server?.remove()
    })
    return database
  }

  /** Of the running test. */
  get keyspace () { return `test${this.#tests}` }

  /** @override */
  get options () { return { port: this.server.port, database: this.keyspace } }

  /** @param {string} statement  with $ for the keyspace @param {any[]} [parameters] @returns {Promise<Record<string, any>[]>} */
  query = async (statement, parameters = []) => {
    const found = await this.client.execute(statement.replaceAll('$', this.keyspace), parameters, { prepare: parameters.length > 0 })
    const rows = []
    if (found.columns) for await (const row of found) rows.push({ ...row })
    return rows
  }

  /** @param {string} table  by the name that the sink was given */
  stored = async table => {
    const rows = await this.query(`SELECT * FROM $."${tableName(table)}"`).catch(error => {
      if (/does not exist/.test(error.message)) return []
      throw error
    })
    const none = Buffer.alloc(0) // in a table of the layout upsert
    return rows.sort((a, b) => Number(a.time_ns - b.time_ns) || Buffer.compare(a.sluice_id ?? none, b.sluice_id ?? none))
  }

  /** As the contract has them. @param {string} table @returns {Promise<Record<string, any>[]>} */
  rows = async table => {
    return (await this.stored(table)).map(({ bucket: _bucket, sluice_id: _id, time: _time, time_ns: time, ...values }) => {
      return { time, ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plain(value)])) }
    })
  }
}
