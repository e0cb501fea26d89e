import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { check, countRows } from '../chaos/check/check.js'
import { Ledger } from '../chaos/check/ledger.js'
import { PostgresqlStore } from '../chaos/stores/postgresql.js'
import { SqliteStore } from '../chaos/stores/sqlite.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway, node } from './gateway.js'

const ROUNDS = 3
/** How many rows must reach every database after a deploy. */
const FLOWING_ROWS = 300

describe('Deploying while data flow', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {Record<string, import('../chaos/check/check.js').Store>} by sink */
  let stores
  /** @type {string} */
  let ledgerFolder
  /** @type {Record<string, any>} by node */
  let options

  before(async function () {
    requireMosquitto(this)
    requirePostgresql(this)
    mosquitto = await startMosquitto()
    postgresql = await startPostgresql()
    ledgerFolder = await mkdtemp(join(tmpdir(), 'sluice-ledger-'))
    gateway = await Gateway.start({ SLUICE_SPOOL_LEDGER: ledgerFolder })
    const { port, user, password, database } = postgresql
    const file = (/** @type {string} */ name) => join(gateway.folder, `${name}.sqlite`)
    options = {
      broker: { url: mosquitto.url },
      machine: { name: 'machine', sampleRateHz: 1000 },
      'stage-out': { broker: 'broker', spoolMegabytes: 100 },
      'stage-in': { broker: 'broker', receiveMaximum: 50 },
      beside: { name: 'beside', file: file('beside'), maxAgeMs: 100, batchRows: 1000 },
      'postgresql-server': { port, database, connections: 4, credentials: { user, password } },
      postgresql: { name: 'postgresql', server: 'postgresql-server', maxAgeMs: 100, batchRows: 1000 },
      'stage-in-alone': { broker: 'broker' },
      alone: { name: 'alone', file: file('alone'), maxAgeMs: 100 }
    }
    stores = {
      beside: new SqliteStore(file('beside')),
      postgresql: await PostgresqlStore.open(postgresql),
      alone: new SqliteStore(file('alone'))
    }
    await deploy('full')
    delete options['postgresql-server'].credentials // Node-RED keeps them, and takes a node that brings any for changed
    await flowing()
  })

  after(async () => {
    for (const store of Object.values(stores ?? {})) await store.close()
    await gateway?.remove()
    await postgresql?.remove()
    await mosquitto?.stop()
    if (ledgerFolder) await rm(ledgerFolder, { recursive: true })
  })

  /** @param {'full'|'nodes'} type */
  const deploy = type => gateway.deploy([
    node('broker', '-broker', options.broker),
    node('machine', '-simulator', options.machine, 'stage-out'),
    node('stage-out', '-stage-out', options['stage-out']),
    node('stage-in', '-stage-in', options['stage-in'], ['beside', 'postgresql']),
    node('beside', '-sqlite', options.beside),
    node('postgresql-server', '-postgresql-server', options['postgresql-server']),
    node('postgresql', '-postgresql', options.postgresql),
    node('stage-in-alone', '-stage-in', options['stage-in-alone'], 'alone'),
    node('alone', '-sqlite', options.alone)
  ], { type })

  const counts = () => Promise.all(Object.values(stores).map(countRows))

  /** More comes in everywhere. */
  async function flowing () {
    const before = await counts()
    await gateway.until(
      async () => (await counts()).every((count, i) => count >= before[i] + FLOWING_ROWS),
      async () => `${FLOWING_ROWS} more rows than ${before}: ${await counts()}`
    )
  }

  for (const [id, option] of [
    ['beside', 'batchRows'],
    ['postgresql', 'batchRows'],
    ['postgresql-server', 'connections'],
    ['stage-in', 'receiveMaximum'],
    ['stage-out', 'spoolMegabytes']
  ]) {
    it(`goes on when only ${id} is deployed`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        options[id][option]++
        await deploy('nodes')
        await flowing()
      }
    })
  }

  it('goes on when everything is deployed', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await deploy('full')
      await flowing()
    }
  })

  it('goes on after one deploy upon another', async () => {
    for (const [id, option] of [
      ['stage-in', 'receiveMaximum'],
      ['beside', 'batchRows'],
      ['stage-out', 'spoolMegabytes'],
      ['stage-in', 'receiveMaximum']
    ]) {
      options[id][option]++
      await deploy('nodes')
    }
    await deploy('full')
    await flowing()
  })

  it('has stored each row once in every database in the end', async () => {
    options.machine.autostart = false
    await deploy('nodes')
    const rowsOf = async (/** @type {'source'|'stage'} */ stage) => (await gateway.meter(stage, 'machine'))?.rows
    await gateway.until(async () => await rowsOf('stage') === await rowsOf('source'), () => 'what gathers to be in the spool')
    const ledger = await Ledger.open([ledgerFolder], join(gateway.folder, 'ledger-copies'))
    await gateway.until(
      async () => (await counts()).every(count => count >= ledger.rows),
      async () => `${ledger.rows} rows everywhere: ${await counts()}`
    )
    expect((await gateway.meter('source', 'machine'))?.rows, 'given by the source').to.equal(ledger.rows)
    expect(await gateway.stop()).to.equal(0)
    for (const [sink, store] of Object.entries(stores)) {
      expect(await check(ledger, store), sink).to.deep.equal({ stored: ledger.rows, lost: 0, countedLost: 0, doubled: 0, findings: [] })
    }
  })
})
