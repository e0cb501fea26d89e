import { DatabaseSync } from 'node:sqlite'
import { connect } from '../../gateway/databases/hana/connection.js'
import { open } from '../../gateway/databases/hana/sink.js'
import { startFakeHana } from '../servers/fake-hana.js'
import { nameOfStored, storedName } from '../servers/fake-hana/sql.js'
import { plain, TestDatabase } from './test-database.js'

/**
 * A fake of SAP HANA for each test of a suite.
 * @extends {TestDatabase<import('../../gateway/databases/hana/connection.js').HanaServer>}
 */
export class HanaDatabase extends TestDatabase {
  /** @type {Awaited<ReturnType<typeof startFakeHana>>} */
  server = /** @type {any} */ (null)

  /** Call it within `describe`. */
  static inSuite () {
    const database = new HanaDatabase({ connect, open })
    beforeEach(async () => { database.server = await startFakeHana() })
    afterEach(async () => {
      await database.closeOpened()
      await database.server.remove()
    })
    return database
  }

  /** @override */
  get options () {
    const { port, user, password } = this.server
    return { port, user, password, host: '127.0.0.1', tls: 'off' }
  }

  /** On another server. */
  openElsewhere = async () => {
    const { port, remove } = await startFakeHana()
    this.keep({ close: remove })
    return this.openSink({ port })
  }

  /** In HANA's SQL. @param {string} sql */
  execute = async sql => {
    for (const statement of sql.split('; ')) await this.connect().use(session => session.run(statement))
  }

  /** Behind the server's back, in SQLite's. @param {string} sql @param {any[]} values @returns {any[]} */
  stored = (sql, ...values) => {
    const database = new DatabaseSync(this.server.file)
    try {
      const statement = database.prepare(sql)
      statement.setReadBigInts(true)
      return statement.all(...values)
    } finally {
      database.close()
    }
  }

  tables = async () => {
    return this.stored('SELECT TABLE_NAME AS name FROM "SYS.TABLES"').map(({ name }) => name).filter(name => name !== 'sluice_commits')
  }

  /** As the contract has them. @param {string} table @returns {Promise<Record<string, any>[]>} */
  rows = async table => {
    if (!(await this.tables()).includes(table)) return []
    const name = storedName(`"${table.replaceAll('"', '""')}"`)
    return this.stored(`SELECT * FROM ${name} ORDER BY "time_ns"`).map(({ time_ns: time, ...row }) => {
      const cells = Object.entries({ ...row, time }).map(([column, cell]) => [nameOfStored(column), column === 'time' ? cell : plain(cell)])
      return Object.fromEntries(cells)
    })
  }
}
