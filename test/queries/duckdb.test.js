import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openSession } from '../../gateway/databases/duckdb/instance.js'
import { expect } from 'chai'
import { open as openSink } from '../../gateway/databases/duckdb/sink.js'
import { open } from '../../gateway/databases/duckdb/reader.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { fileRig } from './file-rig.js'
import { lookupContract } from './lookups.js'
import { queryContract } from './queries.js'

const ALL = { from: 0n, to: 2n ** 63n - 1n }

describe('DuckDB reader', () => {
  const rig = fileRig('sluice.duckdb', openSink, open)
  const { store, reading, values } = rig
  readerContract(rig.harness)
  queryContract(rig.harness)
  lookupContract({ store: rig.store, open: options => open({ file: rig.file, table: 'press', ...options }) })

  for (const layout of ['wide', 'narrow']) {
    it(`lets the gateway go on with its other work while it reads a ${layout} table in which a sensor hardly comes`, async () => {
      const rows = 100_000
      const fields = [{ name: 'force', type: /** @type {const} */ ('float64') }, { name: 'fault', type: /** @type {const} */ ('float64') }]
      const validity = [null, Uint8Array.from({ length: rows }, (_, i) => i === rows - 1 ? 1 : 0)]
      const columns = [new Float64Array(rows), new Float64Array(rows)]
      await store({ layout }, batchOf(Array.from({ length: rows }, (_, i) => i), { fields, columns, validity }))
      let turns = 0
      const count = () => {
        turns++
        counting = setImmediate(count)
      }
      let counting = setImmediate(count)
      expect(await values({ layout }, 'fault')).to.deep.equal([0])
      clearImmediate(counting)
      expect(turns).to.be.above(4)
    })
  }

  it('reads one of several sources in a table', async () => {
    await store({ table: 'all' }, batchOf([1, 2]), batchOf([3], { source: 'oven' }))
    expect(await values({ table: 'all', source: 'oven' })).to.deep.equal([3])
    expect(await values({ table: 'all' })).to.have.members([1, 2, 3])
  })

  it('reads a table that another program has made', async () => {
    const { run, close } = await openSession(rig.file)
    await run('CREATE TABLE press (timestamp BIGINT, clock TIMESTAMP, sensor_id INTEGER, reading REAL)')
    await run('INSERT INTO press VALUES (5, NULL, 17, 0.5), (6, NULL, 18, 1.5), (7, \'2000-01-01 00:00:00.5\', 17, 2.5)')
    close()
    const options = { layout: 'narrow', sensorColumn: 'sensor_id', valueColumn: 'reading' }
    expect(await values({ ...options, timeColumn: 'timestamp' }, '17')).to.deep.equal([0.5, 2.5])
    await reading({ ...options, timeColumn: 'clock' }, async reader => {
      expect(await reader.minimum({ sensor: '17', from: 1n, to: ALL.to })).to.equal(946_684_800_500_000_000n)
    })
  })

  it('summarises, and finds edges, other work going on meanwhile, and ends when it is aborted', async () => {
    const rows = 100_000
    const force = Array.from({ length: rows }, (_, i) => i === 71_234 ? -1 : i % 10)
    await store({}, batchOf(force))
    await reading({}, async reader => {
      let turns = 0
      const timer = setInterval(() => turns++)
      const [{ count, mean, stddev }] = await reader.summaries({ sensors: ['force'], ...ALL, statistics: ['count', 'mean', 'stddev'] })
      clearInterval(timer)
      expect([count, turns > 1]).to.deep.equal([rows, true])
      const exact = force.reduce((sum, value) => sum + value, 0) / rows
      expect(mean).to.be.closeTo(exact, 1e-12)
      expect(stddev).to.be.closeTo(Math.sqrt(force.reduce((sum, value) => sum + (value - exact) ** 2, 0) / (rows - 1)), 1e-12)
      expect(await reader.minimum({ sensor: 'force', ...ALL })).to.equal(T0 + 71_234n)
      expect(await reader.edge({ sensor: 'force', ...ALL, below: 0 })).to.equal(T0 + 71_234n)
      expect(await reader.edge({ sensor: 'force', ...ALL, below: 0, last: true })).to.equal(T0 + 71_234n)
      const abort = new AbortController()
      setImmediate(() => abort.abort(new Error('enough')))
      const aborted = await failureOf(() => reader.summaries({ sensors: ['force'], ...ALL, statistics: ['mean'], signal: abort.signal }))
      expect(aborted.message).to.equal('enough')
    })
  })

  it('computes means of large numbers without the errors of large sums', async () => {
    await store({}, batchOf(Array.from({ length: 100_000 }, (_, i) => 1e15 + i % 10)))
    await reading({}, async reader => {
      const [{ mean }] = await reader.summaries({ sensors: ['force'], ...ALL, statistics: ['mean'] })
      expect(mean).to.equal(1e15 + 4.5)
    })
  })

  it('does not hold up the sink, nor sees half of what it writes', async () => {
    await store({}, batchOf(Array.from({ length: 30_000 }, (_, i) => i)))
    await reading({}, async reader => {
      let read = 0
      for await (const page of reader.samples({ sensors: ['force'], ...ALL, pageRows: 1000 })) {
        if (read === 0) await store({}, batchOf([-1], { time: BigInt64Array.of(T0 + 100_000n) }))
        read += page.length
      }
      expect(read).to.equal(30_000)
    })
    expect(await values({})).to.have.length(30_001)
  })

  it('can be opened while another reading ends', async () => {
    await store({}, batchOf([1]))
    const readAgain = async () => {
      for (let n = 0; n < 300; n++) {
        const { connection, close } = await openSession(rig.file)
        const result = await connection.stream('SELECT * FROM press')
        while ((await result.fetchChunk())?.rowCount);
        close()
        if (n % 3 === 0) await setTimeout(n % 5)
      }
    }
    await Promise.all([readAgain(), readAgain(), readAgain()])
  })

  it('says what is missing: the file, the table, a column', async () => {
    const tells = async (/** @type {object} */ options) => (await failureOf(() => values(options))).message
    expect(await tells({})).to.match(/The DuckDB file ".*sluice\.duckdb" does not exist/)
    await writeFile(join(rig.folder, 'text'), 'This is not a database, but a text of some length.'.repeat(100))
    expect(await tells({ file: join(rig.folder, 'text') })).to.match(/not a valid DuckDB database file/)
    await store({}, batchOf([1]))
    expect(await tells({ table: 'oven' })).to.match(/table "oven" does not exist\. Check its name/)
    expect(await tells({ timeColumn: 'at' })).to.match(/no column "at".*Set the time column/)
    expect(await tells({ source: 'press' })).to.match(/no column "source"/)
    expect(await tells({ layout: 'narrow' })).to.match(/no column "sensor"/)
    expect(await tells({ layout: 'document' })).to.match(/no column "measurements"/)
  })
})
