import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import pg from 'pg'
import { writeByClients } from '../../../gateway/bench/studies/clients.js'
import { requirePostgresql, startPostgresql } from '../../servers/postgresql.js'

const ROWS = { url: new URL('../../../gateway/bench/studies/haenisch/batches.js', import.meta.url).href, options: { batchRows: 10 } }
const SOME_TOO_WIDE = { url: new URL('too-wide.js', import.meta.url).href, options: {} }

describe('clients of a study', function () {
  this.timeout(60_000)
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true }))

  const sqlite = () => ({ type: 'sqlite', options: { file: join(folder, 'test.sqlite') } })
  const countOf = () => {
    const database = new DatabaseSync(join(folder, 'test.sqlite'))
    const count = database.prepare('SELECT count(*) AS count FROM rows').get()?.count
    database.close()
    return count
  }

  it('of an embedded database share a thread and its sink', async () => {
    const { rows, latencyMicroseconds, failedMicroseconds, cpuSeconds } = await writeByClients({
      address: sqlite(), batches: ROWS, clients: 3, batchesPerClient: 5
    })
    expect(rows).to.equal(150)
    expect(countOf()).to.equal(150)
    expect(latencyMicroseconds).to.have.length(15)
    expect(failedMicroseconds).to.deep.equal([])
    expect(cpuSeconds).to.be.above(0)
  })

  for (const clientsAs of /** @type {const} */ (['threads', 'processes'])) {
    it(`of a server have a connection each, as ${clientsAs}`, async function () {
      requirePostgresql(this)
      const postgresql = await startPostgresql()
      try {
        const { port, user, password, database, pid, data } = postgresql
        const login = { host: '127.0.0.1', port, user, password, database }
        const { rows, cpuSeconds, usage } = await writeByClients({
          address: { type: 'postgresql', options: {}, login }, batches: ROWS, clients: 3, batchesPerClient: 5, clientsAs
        }, { running: { watched: { pid, folder: data } } })
        expect(rows).to.equal(150)
        const client = new pg.Client(login)
        await client.connect()
        const { rows: [{ count }] } = await client.query('SELECT count(*)::int AS count FROM rows')
        await client.end()
        expect(count).to.equal(150)
        expect(cpuSeconds).to.be.above(0)
        if (!usage || process.platform !== 'linux') return
        const { processes } = usage
        expect(processes.client.processes.max).to.equal(clientsAs === 'processes' ? 3 : 1)
        expect(processes.client.cpuPercent.mean).to.be.above(0)
        if (!('sentBytesPerSecond' in processes.client)) return // there is no ss
        expect(processes.client.sentBytesPerSecond.growth, 'of connections that are still open').to.be.above(rows * 10)
        expect(processes.server.receivedBytesPerSecond.growth).to.be.above(rows * 10)
      } finally {
        await postgresql.remove()
      }
    })
  }

  it('end with their time', async () => {
    const { rows, seconds } = await writeByClients({ address: sqlite(), batches: ROWS, clients: 1, limitMs: 50 })
    expect(rows).to.equal(countOf())
    expect(seconds).to.be.at.least(0.05)
  })

  it('count a batch that fails, with its latency, and go on', async () => {
    const { rows, latencyMicroseconds, failedMicroseconds, batches, errors } = await writeByClients({
      address: sqlite(), batches: SOME_TOO_WIDE, clients: 1, batchesPerClient: 4
    })
    expect(batches.map(({ client, isStored }) => [client, isStored])).to.deep.equal([[0, true], [0, false], [0, true], [0, false]])
    expect(batches.map(({ microseconds }) => microseconds)).to.have.members([...latencyMicroseconds, ...failedMicroseconds])
    expect(batches.map(({ endedMs }) => endedMs)).to.deep.equal(batches.map(({ endedMs }) => endedMs).toSorted((one, other) => one - other))
    expect(rows).to.equal(2)
    expect(latencyMicroseconds).to.have.length(2)
    expect(failedMicroseconds).to.have.length(2)
    expect(failedMicroseconds.every(micros => micros > 0)).to.equal(true)
    expect(errors).to.have.length(1)
  })

  for (const clientsAs of /** @type {const} */ (['threads', 'processes'])) {
    it(`say what ended them, as ${clientsAs}`, async () => {
      const address = { type: 'sqlite', options: { file: join(folder, 'none', '\0') } }
      const error = await writeByClients({ address, batches: ROWS, clients: 2, batchesPerClient: 1, clientsAs }).catch(reason => reason)
      expect(error).to.have.property('code', 'SLUICE_BENCH_CLIENT')
      expect(error.cause).to.be.an('error')
      expect(error.cause.message).to.contain('without null bytes')
    })

    it(`stop when they are told to, as ${clientsAs}`, async () => {
      const stop = new AbortController()
      const writing = writeByClients({ address: sqlite(), batches: ROWS, clients: 1, clientsAs }, { signal: stop.signal, running: {} })
        .catch(reason => reason)
      while (!existsSync(join(folder, 'test.sqlite'))) await sleep(10)
      stop.abort()
      expect(await writing).to.have.property('name', 'AbortError')
    })
  }
})
