import { connect } from '../../gateway/databases/hbase/connection.js'
import { tableName } from '../../gateway/databases/hbase/dialect.js'
import { open } from '../../gateway/databases/hbase/sink.js'
import { rowOf, tableFacts } from '../../gateway/databases/hbase/tables.js'
import { missingHbase, startHbase } from '../servers/hbase.js'
import { requireServer } from '../servers/programs.js'
import { plain, TestDatabase } from '../databases/test-database.js'

/**
 * An HBase server for the tests of a suite, and a namespace for each of them.
 * @extends {TestDatabase<import('../../gateway/databases/hbase/connection.js').HbaseServer>}
 */
export class HbaseDatabase extends TestDatabase {
  /** @type {import('../servers/hbase.js').HbaseServer} */
  server = /** @type {any} */ (null)
  #tests = 0

  /** Call it within `describe`. */
  static inSuite () {
    const database = new HbaseDatabase({ connect, open })
    before(async function () {
      this.timeout(240_000)
      requireServer(this, 'hbase', missingHbase())
      database.server = await startHbase()
    })
    beforeEach(() => { database.#tests++ })
    afterEach(() => database.closeOpened())
    after(async function () {
      this.timeout(60_000)
      await database.server?.remove()
    })
    return database
  }

  /** Of the running test. */
  get namespace () { return `test${this.#tests}` }

  /** @override */
  get options () { return { port: this.server.port, database: this.namespace } }

  /** Asks the REST server, beside the sink. @param {string} method @param {string} path @param {object} [body]  @returns {Promise<any>} */
  ask = async (method, path, body) => {
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const answer = await fetch(`http://127.0.0.1:${this.server.port}${path}`, { method, headers, ...body && { body: JSON.stringify(body) } })
    const text = await answer.text()
    if (!answer.ok && answer.status !== 404) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`)
    return answer.status === 404 || text === '' ? null : JSON.parse(text)
  }

  /** Those of rows. */
  tables = async () => (await this.connect().tables()).filter(name => name !== 'sluice_commits')

  /** @param {string} table  as HBase has it */
  path = table => `/${this.namespace}:${table}`

  /** @param {string} table @returns {Promise<Buffer[]>} */
  keys = async table => (await this.found(table)).map(({ key }) => key)

  /** @param {string} table @param {Buffer} key */
  remove = async (table, key) => {
    await this.ask('DELETE', `${this.path(table)}/${key.toString('base64url')}?e=b64`)
  }

  /** @param {string} table */
  found = async table => {
    const all = []
    for await (const page of this.connect().scan(table, {})) all.push(...page)
    return all
  }

  /**
   * As the contract has them, in the order of keys.
   * @param {string} name  that the sink was given
   * @returns {Promise<Record<string, any>[]>}
   */
  rows = async name => {
    const facts = await tableFacts(this.connect(), name).catch(() => null)
    if (!facts) return []
    const rows = (await this.found(tableName(name))).map(row => rowOf(facts, row))
    return rows.map(({ time_ns: time, ...values }) => ({
      time, ...Object.fromEntries(Object.entries(values).map(([column, value]) => [column, plain(value)]))
    }))
  }
}
