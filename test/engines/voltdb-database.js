import { connect } from '../../gateway/databases/voltdb/connection.js'
import { nameIn, nameOf } from '../../gateway/databases/voltdb/dialect.js'
import { open } from '../../gateway/databases/voltdb/sink.js'
import { readColumns } from '../../gateway/databases/voltdb/tables.js'
import { requireServer } from '../servers/programs.js'
import { missingVoltdb, startVoltdb } from '../servers/voltdb.js'
import { plain, TestDatabase } from '../databases/test-database.js'

const OWN = ['time_ns', 'sluice_batch', 'sluice_row']

/**
 * A VoltDB server for the tests of a suite, emptied before each of them.
 * @extends {TestDatabase<import('../../gateway/databases/voltdb/connection.js').VoltdbServer>}
 */
export class VoltdbDatabase extends TestDatabase {
  /** @type {import('../servers/voltdb.js').VoltdbServer} */
  server = /** @type {any} */ (null)
  /** @type {import('../../gateway/databases/voltdb/connection.js').VoltdbServer} */
  #own = /** @type {any} */ (null)

  /** Call it within `describe`. */
  static inSuite () {
    const database = new VoltdbDatabase({ connect, open })
    before(async function () {
      this.timeout(120_000)
      requireServer(this, 'voltdb', missingVoltdb())
      database.server = await startVoltdb()
      database.#own = connect({ port: database.server.port })
    })
    beforeEach(async () => {
      const tables = await database.tables()
      if (tables.length > 0) await database.query(tables.map(name => `DROP TABLE ${name};`).join(' '))
    })
    afterEach(() => database.closeOpened())
    after(async () => {
      await database.#own?.close()
      await database.server?.remove()
    })
    return database
  }

  /** @override */
  get options () { return { port: this.server.port } }

  /** @param {string} statement @param {any[]} [parameters] */
  query = (statement, parameters) => this.#own.query(statement, parameters)

  /** @param {string} table */
  drop = async table => { await this.query(`DROP TABLE ${nameIn(table)}`) }

  /** As the server calls them. @returns {Promise<string[]>} */
  tables = async () => {
    const [{ rows }] = await (await this.#own.session()).call('@SystemCatalog', ['TABLES'])
    return rows.map(row => row[2].toLowerCase())
  }

  /** All columns of a table, by the name that the sink was given. @param {string} name @returns {Promise<Record<string, any>[]>} */
  stored = async name => {
    const columns = await readColumns(await this.#own.session(), nameIn(name))
    if (columns.length === 0) return []
    const names = columns.map(column => nameIn(column.name))
    const rows = await this.query(`SELECT ${names.join(', ')} FROM ${nameIn(name)} ORDER BY time_ns, sluice_batch, sluice_row`)
    return rows.map(row => Object.fromEntries(columns.map((column, i) => [column.name, row[i]])))
  }

  /** As the contract has them. @param {string} table @returns {Promise<Record<string, any>[]>} */
  rows = async table => (await this.stored(table)).map(row => ({
    time: row.time_ns,
    ...Object.fromEntries(Object.entries(row).filter(([name]) => !OWN.includes(name)).map(([name, value]) => [name, plain(value)]))
  }))

  /** By the name that the sink was given, without that of the commit records. */
  names = async () => (await this.tables()).filter(name => name !== 'sluice_commits').map(nameOf)
}
