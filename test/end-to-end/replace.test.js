import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import pg from 'pg'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway } from './gateway.js'

describe('The example that replaces another PostgreSQL node by a sink', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {pg.Client} */
  let client

  before(async function () {
    requirePostgresql(this)
    postgresql = await startPostgresql()
    gateway = await Gateway.start()
    const { port, user, password, database } = postgresql
    client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
    await client.connect()
    /** @type {import('./gateway.js').FlowNode[]} */
    const nodes = JSON.parse(await readFile('examples/4 Replace your nodes/postgresql.json', 'utf8'))
    const login = { port, database, credentials: { user, password } }
    const own = nodes.map(node => node.type === 'sluice-postgresql-server' ? { ...node, ...login } : node)
    await gateway.deploy(own, { feeds: nodes.filter(({ type }) => type === 'function').map(({ id }) => id) })
  })

  after(async () => {
    await client?.end()
    await gateway?.remove()
    await postgresql?.remove()
  })

  it('stores what the old functions send, in the table that they name', async () => {
    await gateway.feed(() => [{ payload: 1 }])
    const stored = async () => (await client.query('SELECT room, temperature, time FROM weather ORDER BY room')).rows
    const exists = async () => (await client.query('SELECT to_regclass(\'weather\') AS name')).rows[0].name !== null
    await gateway.until(async () => await exists() && (await stored()).length === 2, () => 'two rows')
    const rows = await stored()
    expect(rows.map(({ room, temperature }) => [room, temperature])).to.deep.equal([['hall', 19.25], ['kitchen', 21.5]])
    for (const { time } of rows) expect(Date.now() - time.getTime()).to.be.within(0, 60_000)
  })
})
