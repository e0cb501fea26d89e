import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { sluice } from '../cli/process.js'
import { Gateway, node } from './gateway.js'

const ROWS = 1000

describe('A gateway that is killed while it replays dead letters', () => {
  /** @type {Gateway} */
  let gateway
  before(async () => { gateway = await Gateway.start() })
  after(() => gateway?.remove())

  /** @template T @param {(database: DatabaseSync) => T} use */
  function withDatabase (use) {
    const database = new DatabaseSync(join(gateway.folder, 'store.sqlite'), { timeout: 10_000 })
    try {
      return use(database)
    } finally {
      database.close()
    }
  }

  /** @returns {string[]} what is stored in both tables, which replaying makes */
  const stored = () => withDatabase(database => ['press', 'lathe'].flatMap(table => {
    const isThere = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table)
    return isThere ? database.prepare(`SELECT state FROM ${table}`).all().map(({ state }) => String(state)) : []
  }))

  /** @param {string[]} args */
  const deadLetters = (...args) => sluice('dead-letters', ...args, '--user-dir', gateway.userDir)

  it('has stored each of them once in the end', async () => {
    await gateway.deploy([
      node('letters', '-dead-letters', {}, [], []),
      node('store', '-sqlite', { name: 'store', file: join(gateway.folder, 'store.sqlite'), maxAgeMs: 20 })
    ], { feeds: ['store'] })
    await gateway.feed(() => ['press', 'lathe'].map(topic => ({ topic, payload: { state: 1 } })))
    await gateway.until(() => stored().length === 2)
    await gateway.feed(() => Array.from({ length: 40 }, (_, i) => ({
      topic: i % 2 ? 'press' : 'lathe',
      payload: Array.from({ length: 25 }, (_row, row) => ({ state: `state ${25 * i + row}` }))
    })))
    await gateway.until(async () => (await gateway.meter('sink', 'store'))?.deadLetters === ROWS)

    await gateway.stop() // and somebody mends what refused them
    withDatabase(database => database.exec('DROP TABLE press; DROP TABLE lathe'))
    await gateway.restart()
    for (const enough of [1, 300, 600]) {
      const { child, exit } = deadLetters('replay', '--all')
      await gateway.until(() => stored().length >= enough, () => `${stored().length} rows`)
      await gateway.restart('SIGKILL')
      child.kill()
      await exit
    }
    await gateway.until(async () => (await deadLetters('replay', '--all').exit).code === 0)
    expect((await deadLetters('list').exit).stdout).to.equal('No dead letters.\n')
    expect(stored().sort()).to.deep.equal(Array.from({ length: ROWS }, (_, n) => `state ${n}`).sort())
  })
})
