import { connect } from '../../gateway/databases/questdb/connection.js'
import { nameIn } from '../../gateway/databases/questdb/dialect.js'
import { open } from '../../gateway/databases/questdb/sink.js'
import { readColumns } from '../../gateway/databases/questdb/tables.js'
import { caseMarked, nameOfAscii } from '../../gateway/databases/names.js'
import { requireServer } from '../servers/programs.js'
import { missingQuestdb, startQuestdb } from '../servers/questdb.js'
import { TestDatabase } from '../databases/test-database.js'

const OWN = ['timestamp', 'sluice_batch', 'sluice_row']

/**
 * A QuestDB server for the tests of a suite, emptied before each of them.
 * @extends {TestDatabase<import('../../gateway/databases/questdb/connection.js').QuestdbServer>}
 */
export class QuestdbDatabase extends TestDatabase {
  /** @type {import('../servers/questdb.js').QuestdbServer} */
  server = /** @type {any} */ (null)
  /** @type {import('../../gateway/databases/questdb/connection.js').QuestdbServer} */
  #own = /** @type {any} */ (null)

  /** Call it within `describe`. */
  static inSuite () {
    const database = new QuestdbDatabase({ connect, open })
    before(async function () {
      this.timeout(120_000)
      requireServer(this, 'questdb', missingQuestdb())
      database.server = await startQuestdb()
      database.#own = connect({ port: database.server.port })
    })
    beforeEach(async () => {
      for (const [name] of await database.query('SHOW TABLES')) await database.query(`DROP TABLE "${name}"`)
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

  /** @param {string} statement */
  query = statement => this.#own.query(statement)

  /** All columns of a table, by the name that the sink was given. @param {string} name @returns {Promise<Record<string, any>[]>} */
  stored = async name => {
    const wanted = nameIn(name)
    const alike = (await this.query('SHOW TABLES')).map(([found]) => found).filter(found => found.toLowerCase() === wanted.toLowerCase())
    const table = alike.length === 0 || alike.includes(wanted) ? wanted : caseMarked(wanted).replaceAll('~', '_x7e_')
    const columns = await readColumns(this.#own, table)
    if (columns.length === 0) return []
    await this.#own.settled(table)
    const names = columns.map(column => column.name === 'timestamp' ? 'timestamp::long' : `"${column.name}"`)
    const rows = await this.query(`SELECT ${names.join(', ')} FROM "${table}" ORDER BY timestamp, sluice_batch, sluice_row`)
    return rows.map(row => Object.fromEntries(columns.map((column, i) => [column.name, cellOf(column.kind, row[i])])))
  }

  /** As the contract has them. @param {string} table @returns {Promise<Record<string, any>[]>} */
  rows = async table => (await this.stored(table)).map(row => ({
    time: BigInt(row.timestamp),
    ...Object.fromEntries(Object.entries(row).filter(([name]) => !OWN.includes(name))
      .map(([name, value]) => [nameOfAscii(name), /bytes|blob/i.test(name) && value !== null ? hex(value) : value]))
  }))

  /** Once all can be read. @param {string[]} tables */
  settled = async (...tables) => { for (const table of tables) await this.#own.settled(table) }
}

/** @param {string} base64 */
function hex (base64) {
  return `0x${Buffer.from(base64, 'base64').toString('hex')}`
}

/** @param {string} kind @param {any} cell */
function cellOf (kind, cell) {
  return kind === 'FLOAT' && cell !== null ? Math.fround(cell) : cell
}
