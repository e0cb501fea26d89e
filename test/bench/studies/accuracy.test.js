import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import pg from 'pg'
import { batchesOf } from '../../../gateway/bench/studies/haenisch/batches.js'
import { haenisch } from '../../../gateway/bench/studies/haenisch/study.js'
import { makeTable } from '../../../gateway/bench/sinks/open.js'
import { writeByClients } from '../../../gateway/bench/studies/clients.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { requirePostgresql, startPostgresql } from '../../servers/postgresql.js'
import { FakeNetwork } from './fake-network.js'

const ROWS = { url: new URL('../../../gateway/bench/studies/haenisch/batches.js', import.meta.url).href, options: { batchRows: 100 } }
const DELAY_MS = 100

describe('what a study reports', function () {
  this.timeout(120_000)

  describe('of PostgreSQL', () => {
    /** @type {import('../../servers/postgresql.js').PostgresqlServer} */
    let server
    /** @type {pg.Client} */
    let client
    before(async function () {
      requirePostgresql(this)
      server = await startPostgresql()
      client = new pg.Client({ host: '127.0.0.1', ...login() })
      await client.connect()
    })
    after(async () => {
      await client?.end()
      await server?.remove()
    })
    afterEach(() => client.query('DROP TABLE IF EXISTS rows, sluice_commits'))

    const login = () => {
      const { port, user, password, database } = server
      return { port, user, password, database }
    }
    const addressAt = (/** @type {number} */ port) => {
      return { type: 'postgresql', options: {}, login: { host: '127.0.0.1', ...login(), port } }
    }
    const count = async () => (await client.query('SELECT count(*)::int AS count FROM rows')).rows[0].count

    it('has the delay of the network in the latency of a batch, as often as it goes to and fro', async () => {
      /** @param {number} port @param {number} rows */
      const latencyMs = async (port, rows) => {
        const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
        const sweep = { databases: ['postgresql'], batchSizes: [100], writers: [1], rows, seconds: 100 }
        const own = { missing: () => null, start: async () => ({ url: '', host: '127.0.0.1', ...login(), port }) }
        const { cells: [cell] } = await runStudy(haenisch, {
          folder, options: { isFull: false, sweep }, servers: () => own, environment: {}
        })
        await rm(folder, { recursive: true })
        if (cell.state !== 'done') throw new Error(cell.reason)
        expect(cell.measures.rows, 'which the study has counted there').to.equal(rows)
        return cell.measures.latencyMedianMicroseconds / 1000
      }
      const network = new FakeNetwork(server.port, { delayMs: DELAY_MS })
      try {
        const port = await network.listen()
        await latencyMs(port, 100)
        const once = network.asked
        const delayedMs = await latencyMs(port, 1100)
        const roundTrips = Math.round((network.asked - 2 * once) / 10) // to begin and to end takes a few more or less
        const injectedMs = roundTrips * 2 * network.heldMs
        expect(injectedMs).to.be.at.least(2 * DELAY_MS)
        expect(delayedMs - await latencyMs(server.port, 1100)).to.be.closeTo(injectedMs, injectedMs / 10)
      } finally {
        network.close()
      }
    })

    it('has the batches that the server refuses, with their latency, and not their rows', async () => {
      const address = addressAt(server.port)
      await makeTable(address, batchesOf(ROWS.options, 0).next().value)
      await client.query(`CREATE SEQUENCE attempts;
        CREATE FUNCTION refuse () RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('attempts') % 3 = 0 THEN PERFORM pg_sleep(0.2); RAISE EXCEPTION 'the third is refused'; END IF;
          RETURN NULL;
        END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON rows FOR EACH STATEMENT EXECUTE FUNCTION refuse()`)
      const { rows, latencyMicroseconds, failedMicroseconds, errors } = await writeByClients({
        address, batches: ROWS, clients: 2, batchesPerClient: 6
      })
      expect(latencyMicroseconds).to.have.length(8)
      expect(failedMicroseconds).to.have.length(4)
      expect(Math.min(...failedMicroseconds)).to.be.at.least(200_000)
      expect(errors.join()).to.contain('the third is refused')
      expect(rows).to.equal(800)
      expect(await count()).to.equal(rows)
    })

    it('has the batches in whose middle the connection broke, and counts the rows of those that are stored all the same', async () => {
      const network = new FakeNetwork(server.port, { delayMs: 10 })
      network.breakOn('request', 'PGCOPY\n') // the rows never arrive
      network.breakOn('answer', 'COMMIT') // they are stored, which nobody hears
      const address = addressAt(await network.listen())
      await makeTable(addressAt(server.port), batchesOf(ROWS.options, 0).next().value)
      try {
        const { rows, latencyMicroseconds, failedMicroseconds, errors } = await writeByClients({
          address, batches: ROWS, clients: 1, batchesPerClient: 6
        })
        expect(failedMicroseconds).to.have.length(2)
        expect(Math.min(...failedMicroseconds)).to.be.at.least(10_000)
        expect(latencyMicroseconds).to.have.length(4)
        expect(errors).to.have.length.above(0)
        expect(rows, 'all but those that never arrived').to.equal(500)
        expect(await count()).to.equal(rows)
      } finally {
        network.close()
      }
    })
  })
})
