import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import pg from 'pg'
import { serversOf } from '../../../gateway/bench/servers.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { Attempts } from '../../../gateway/bench/studies/weissbach/attempts.js'
import { runClients } from '../../../gateway/bench/studies/weissbach/clients.js'
import { Ledger } from '../../../gateway/bench/studies/weissbach/ledger.js'
import { newId, Prepared, sum } from '../../../gateway/bench/studies/weissbach/records.js'
import { weissbach } from '../../../gateway/bench/studies/weissbach/study.js'
import { requirePostgresql, startPostgresql } from '../../servers/postgresql.js'

const SECONDS = { seconds: 0.05, warmUpSeconds: 0.01 }

describe('the study of Weißbach, Hilbert and Springer', function () {
  this.timeout(120_000)
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true }))

  /** @param {object} sweep */
  const run = sweep =>
    runStudy(weissbach, { folder, options: { isFull: false, sweep }, servers: serversOf({}, {}, {}), environment: {} })

  describe('its cells', () => {
    it('are the paper\'s twelve of each database, one by one and gathered', () => {
      const { cells } = weissbach.plan({ isFull: false, sweep: {} })
      expect(cells.filter(({ parameters }) => !parameters.engine)).to.have.length(7 * 12 * 2)
      expect(new Set(cells.map(({ id }) => id)).size).to.equal(cells.length)
      const mysql = cells.filter(({ parameters }) => parameters.database === 'mysql').map(({ parameters }) => parameters)
      expect(new Set(mysql.map(({ pattern, blobBytes }) => `${pattern} ${blobBytes}`)).size).to.equal(12)
      expect(mysql.filter(({ pattern }) => pattern === 'read').map(({ messageRows }) => messageRows)).to.deep.equal([1, 1000, 1, 99, 1, 9])
      expect(new Set(mysql.map(({ clients }) => clients))).to.deep.equal(new Set([4]))
    })

    it('are those of engines beside a flow\'s one by one, with the smallest BLOB where time is short', () => {
      const inEngines = (/** @type {boolean} */ isFull) => {
        const { cells } = weissbach.plan({ isFull, sweep: { databases: ['postgresql', 'sqlite'] } })
        return cells.filter(({ parameters }) => parameters.engine).map(({ parameters }) => parameters)
      }
      const named = inEngines(false).map(({ engine, database, pattern, blobBytes, batchRows }) => {
        return [engine, database, pattern, blobBytes, batchRows].join()
      })
      expect(named).to.have.members(['flink', 'spark'].flatMap(engine => {
        return ['read', 'insert', 'update', 'mixed'].map(pattern => `${engine},postgresql,${pattern},1,1`)
      }))
      expect(inEngines(true)).to.have.length(2 * 12)
    })

    it('say why an engine cannot be measured', async () => {
      const { cells } = await run({ databases: ['postgresql'], batchSizes: [1], ...SECONDS })
      expect(cells.map(cell => 'reason' in cell && cell.reason)).to.include('no server; name one with --postgresql URL')
      const engine = cells.filter(({ parameters }) => parameters.engine === 'flink')
      const servers = (/** @type {string} */ name) => ({
        missing: () => name === 'flink' ? 'It is not built.' : null, start: () => Promise.reject(new Error(name))
      })
      expect(await weissbach.missing(/** @type {any} */ (engine[0]), servers)).to.equal('It is not built.')
    })

    it('are full for ten minutes each, over a million, 100,000 and 10,000 ids', () => {
      const { cells, cut } = weissbach.plan({ isFull: true, sweep: { databases: ['postgresql'], writers: [8] } })
      const ids = cells.map(({ parameters: { blobBytes, ids: count, seconds } }) => [blobBytes, count, seconds].join())
      expect([...new Set(ids)]).to.deep.equal(['1,1000000,600', '10000,100000,600', '100000,10000,600'])
      expect(cut.join()).to.include('10,000 of 100,000 B').and.not.include('10 minutes')
    })

    it('have one client of a database that is in the process', () => {
      const { cells } = weissbach.plan({ isFull: false, sweep: { databases: ['sqlite'], writers: [2, 16] } })
      expect(cells.map(({ parameters }) => parameters.clients)).to.deep.equal(Array(24).fill(1))
    })

    it('say why a database cannot be measured', async () => {
      const { cells } = await run({ databases: ['clickhouse', 'mysql'], batchSizes: [1], ...SECONDS })
      const reasons = new Set(cells.map(cell => 'reason' in cell && cell.reason))
      expect([...reasons]).to.deep.equal([
        'Its sink has no layout upsert; postgresql, mysql, mongodb, cassandra, hbase, sqlite, duckdb have.',
        'no server; name one with --mysql URL'
      ])
    })
  })

  it('leaves a row for each id, compares every read, and has latencies of what was asked for', async () => {
    const { cells, environment } = await run({ databases: ['sqlite'], rows: 40, batchSizes: [1], ...SECONDS })
    expect(environment.Databases).to.match(/^SQLite /)
    const done = cells.filter(cell => cell.state === 'done')
    expect(done).to.have.length(12)
    for (const { id, parameters: { pattern }, measures } of done) {
      expect(measures.records, id).to.be.above(0)
      expect(measures.recordsPerSecond, id).to.be.above(0)
      expect(measures.failedRequests, id).to.equal(0)
      expect(measures.comparedReads, id).to.be.above(0)
      if (pattern === 'read' || pattern === 'update') expect(measures.rows, id).to.equal(40)
      else expect(measures.rows, id).to.be.at.least(pattern === 'mixed' ? 40 : measures.records)
      expect('readMeanMicroseconds' in measures, id).to.equal(pattern !== 'insert')
      expect('writeMeanMicroseconds' in measures, id).to.equal(pattern !== 'read')
    }
  })

  describe('its clients', () => {
    const file = () => join(folder, 'test.sqlite')
    const load = () => ({
      address: { type: 'sqlite', options: { file: file() } },
      pattern: 'mixed',
      blobBytes: 100,
      ids: 20,
      client: 0,
      clients: 1,
      batchRows: 4,
      gatheredRows: 8,
      warmUpMs: 0,
      limitMs: 60_000,
      maxRecords: 200
    })
    const how = () => ({ clientsAs: /** @type {const} */ ('threads'), signal: new AbortController().signal, running: {} })
    const all = () => {
      const database = new DatabaseSync(file())
      const rows = database.prepare('SELECT id, integer1, blob FROM rows').all()
      database.close()
      return rows
    }

    it('store each id once, of twelve characters, with the sum of what came for it', async () => {
      const { runs: [{ records }], checks: [{ rows, compared }] } = await runClients([{ ...load(), pattern: 'update' }], how())
      expect(records).to.equal(200)
      expect([rows, compared]).to.deep.equal([20, 220])
      const stored = all()
      expect(new Set(stored.map(({ id }) => id)).size).to.equal(20)
      expect(stored).to.have.length(20)
      expect(stored.every(({ id, blob }) => String(id).length === 12 && /** @type {Uint8Array} */ (blob).length === 100)).to.equal(true)
      const prepared = new Prepared(100)
      const untouched = stored.filter(({ id, integer1 }) => integer1 === prepared.signal(Number(String(id).slice(1)))[0])
      expect(untouched.length).to.be.below(20)
    })

    it('insert about half of the mixed records, and update the others', async () => {
      const { checks: [{ rows }] } = await runClients([load()], how())
      const stored = all()
      expect(stored).to.have.length(rows)
      expect(new Set(stored.map(({ id }) => id)).size).to.equal(rows)
      expect(rows - 20).to.be.within(70, 130)
    })

    it('notice a read that does not return what was written', async () => {
      await runClients([{ ...load(), pattern: 'update' }], how())
      // What comes again under the same identity is not stored again, and the sums of the run before are still there.
      const error = await runClients([{ ...load(), pattern: 'update' }], how()).catch(reason => reason)
      expect(error).to.have.property('code', 'SLUICE_BENCH_CLIENT')
      expect(error.cause).to.have.property('code', 'SLUICE_BENCH_READ')
    })

    for (const clientsAs of /** @type {const} */ (['threads', 'processes'])) {
      it(`have keys of their own in a server, as ${clientsAs}`, async function () {
        requirePostgresql(this)
        const postgresql = await startPostgresql()
        try {
          const { port, user, password, database } = postgresql
          const login = { host: '127.0.0.1', port, user, password, database }
          const loads = [0, 1, 2].map(client => {
            return { ...load(), address: { type: 'postgresql', options: {}, login }, client, clients: 3, blobBytes: 10_000 }
          })
          const { checks } = await runClients(loads, { ...how(), clientsAs })
          const client = new pg.Client(login)
          await client.connect()
          const { rows: [counts] } = await client.query('SELECT count(*)::int AS count, count(DISTINCT id)::int AS ids FROM rows')
          await client.end()
          const count = checks.reduce((total, { rows }) => total + rows, 0)
          expect(counts).to.deep.equal({ count, ids: count })
        } finally {
          await postgresql.remove()
        }
      })
    }

    it('stop when they are told to', async () => {
      const stop = new AbortController()
      const running = runClients([{ ...load(), maxRecords: Infinity }], { ...how(), signal: stop.signal }).catch(reason => reason)
      setTimeout(() => stop.abort(), 100)
      expect(await running).to.have.property('name', 'AbortError')
    })
  })

  describe('its records', () => {
    it('are added as whole numbers of 32 bits and as doubles', () => {
      expect(sum([2 ** 31 - 1, -5, 0, 0.5, 0.1, 1], [1, 5, 7, 0.25, 0.2, 0])).to.deep.equal([-(2 ** 31), 0, 7, 0.75, 0.1 + 0.2, 1])
    })

    it('have ids that no two clients share', () => {
      const prepared = new Prepared(1)
      const ledgers = [0, 1, 2].map(client => new Ledger(prepared, { ids: 10, client, clients: 3 }))
      const ids = ledgers.flatMap(ledger => Array.from({ length: ledger.known }, (_, place) => ledger.id(place)))
      expect(ids.sort()).to.deep.equal(Array.from({ length: 10 }, (_, i) => `U0000000000${i}`))
      expect([newId(0, 0), newId(35, 12)]).to.deep.equal(['N00000000000', 'N0Z000000012'])
    })

    it('get another BLOB with each change, as large as before', () => {
      const prepared = new Prepared(10_000)
      const [first, second] = [1, 2].map(times => prepared.blob(times))
      expect([first.length, second.length]).to.deep.equal([10_000, 10_000])
      expect(Buffer.compare(first, second)).to.not.equal(0)
    })
  })

  it('counts a request that fails with its latency, and makes it again', async () => {
    const attempts = new Attempts()
    let calls = 0
    const answer = await attempts.make(async () => {
      if (++calls < 3) throw new Error(`refused ${calls}`)
      return 'stored'
    })
    expect(answer).to.equal('stored')
    expect([attempts.answered.length, attempts.failed.length]).to.deep.equal([1, 2])
    expect([...attempts.errors]).to.deep.equal(['refused 1', 'refused 2'])
    const error = await attempts.make(async () => { throw new Error('for good') }).catch(reason => reason)
    expect(error.message).to.equal('for good')
  })
})
