import { DatabaseSync } from 'node:sqlite'
import { connect } from '../../gateway/databases/hana/connection.js'
import { open } from '../../gateway/databases/hana/sink.js'
import { startFakeHana } from '../servers/fake-hana.js'
import { nameOfStored, storedName } from '../servers/fake-hana/sql.js'

/** A fake of SAP HANA for each test of a suite. */
export class HanaDatabase {
  /** @type {Awaited<ReturnType<typeof startFakeHana>>} */
  server = /** @type {any} */ (null)
  /** @type {{close: () => Promise<void>, remove?: () => Promise<void>}[]} */
  #opened = []

  /** Call it within `describe`. */
  static inSuite () {
    const database = new HanaDatabase()
    beforeEach(async () => { database.server = await startFakeHana() })
    afterEach(async () => {
      for (const each of database.#opened.splice(0)) await each.close()
      await database.server.remove()
    })
    return database
  }

  /** @param {object} [options]  of the server */
  connect = (options = {}) => {
    const { port, user, password } = this.server
    const connected = connect({ port, user, password, host: '127.0.0.1', tls: 'off', ...options })
    this.#opened.push(connected)
    return connected
  }

  /** @param {object} [options]  of the sink and of the server */
  openSink = async (options = {}) => {
    const sink = await open(/** @type {any} */ (options), { server: this.connect(options) })
    this.#opened.unshift(sink)
    return sink
  }

  /** On another server. */
  openElsewhere = async () => {
    const { port, remove } = await startFakeHana()
    this.#opened.push({ close: remove })
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

/** @param {any} cell */
function plain (cell) {
  if (typeof cell === 'bigint') return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell
  return cell instanceof Uint8Array ? `0x${Buffer.from(cell).toString('hex')}` : cell
}
