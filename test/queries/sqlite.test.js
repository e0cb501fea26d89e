import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { open as openSink } from '../../gateway/databases/sqlite/sink.js'
import { open } from '../../gateway/databases/sqlite/reader.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { fileRig } from './file-rig.js'
import { lookupContract } from './lookups.js'
import { papersSqlTests } from './papers-sql.js'
import { queryContract } from './queries.js'

const ALL = { from: 0n, to: 2n ** 63n - 1n }

describe('SQLite reader', () => {
  const rig = fileRig('sluice.sqlite', openSink, open)
  const { store, reading, values } = rig
  readerContract(rig.harness)
  queryContract(rig.harness)
  papersSqlTests({
    store,
    open: options => open({ file: rig.file, table: 'press', ...options }),
    time: 'time',
    stddev: 'sqrt((sum(value * value) - sum(value) * sum(value) / count(value)) / (count(value) - 1))',
    async select (sql) {
      const database = new DatabaseSync(rig.file, { readOnly: true })
      try {
        const statement = database.prepare(sql)
        statement.setReadBigInts(true)
        return statement.all()
      } finally {
        database.close()
      }
    }
  })
  lookupContract({ store: rig.store, open: options => open({ file: rig.file, table: 'press', ...options }) })

  for (const layout of ['wide', 'narrow']) {
    it(`does not block the gateway while it reads a ${layout} table in which a sensor is rare`, async () => {
      const rows = 100_000
      const fields = [{ name: 'force', type: /** @type {const} */ ('float64') }, { name: 'fault', type: /** @type {const} */ ('float64') }]
      const validity = [null, Uint8Array.from({ length: rows }, (_, i) => i === rows - 1 ? 1 : 0)]
      await store(
        { layout },
        batchOf(Array.from({ length: rows }, (_, i) => i), { fields, columns: [new Float64Array(rows), new Float64Array(rows)], validity })
      )
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

  it('finds a layout that is not the table\'s, and one it does not know, an error and no lack of samples', async () => {
    await store({ table: 'wide' }, batchOf([1]))
    expect(await values({ table: 'wide' }, 'nothing')).to.deep.equal([])
    for (const layout of ['narrow', 'document']) {
      await store({ layout, table: layout }, batchOf([1, 2]))
      for (const other of ['wide', 'narrow', 'document'].filter(each => each !== layout)) {
        const error = await failureOf(() => values({ table: layout, layout: other }))
        expect(error.code, `${layout} read as ${other}`).to.equal('SLUICE_QUERY_TABLE')
      }
      const reader = await open({ file: rig.file, table: layout })
      for (const ask of [
        () => reader.edge({ sensor: 'force', ...ALL, above: 0 }),
        () => reader.minimum({ sensor: 'force', ...ALL }),
        () => reader.summaries({ sensors: ['force'], ...ALL, statistics: ['mean'] })
      ]) expect((await failureOf(ask)).message).to.contain(`those of the layout ${layout}`)
      await reader.close()
    }
    expect((await failureOf(() => values({ layout: 'paper-bulk' }))).code).to.equal('SLUICE_OPTIONS')
  })

  it('reads one of several sources in a table', async () => {
    await store({ table: 'all' }, batchOf([1, 2]), batchOf([3], { source: 'oven' }))
    expect(await values({ table: 'all', source: 'oven' })).to.deep.equal([3])
    expect(await values({ table: 'all' })).to.have.members([1, 2, 3])
  })

  it('reads a table that another program has created', async () => {
    const database = new DatabaseSync(rig.file)
    database.exec('CREATE TABLE press (timestamp INTEGER, sensor_id INTEGER, reading REAL); ' +
      'INSERT INTO press VALUES (5, 17, 0.5), (6, 18, 1.5), (7, 17, 2.5)')
    database.close()
    expect(
      await values({ layout: 'narrow', timeColumn: 'timestamp', sensorColumn: 'sensor_id', valueColumn: 'reading' }, '17')
    ).to.deep.equal([0.5, 2.5])
  })

  it('summarises, and finds edges, in many steps with other work in between', async () => {
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
      expect(
        (await failureOf(() => reader.summaries({ sensors: ['force'], ...ALL, statistics: ['mean'], signal: abort.signal }))).message
      ).to.equal('enough')
    })
  })

  it('does not block the sink, and never sees half of a write', async () => {
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

  it('reports what is missing: the file, the table, a column', async () => {
    const messageOf = async (/** @type {object} */ options) => (await failureOf(() => values(options))).message
    expect(await messageOf({})).to.match(/SQLite file.*sluice\.sqlite" does not exist/)
    await writeFile(join(rig.folder, 'text'), 'This is not a database, but a text of some length.'.repeat(100))
    expect(await messageOf({ file: join(rig.folder, 'text') })).to.match(/not a database/)
    await store({}, batchOf([1]))
    expect(await messageOf({ table: 'oven' })).to.match(/table "oven" does not exist.*Check its name/)
    expect(await messageOf({ timeColumn: 'at' })).to.match(/no column "at".*Set the time column/)
    expect(await messageOf({ source: 'press' })).to.match(/no column "source"/)
    expect(await messageOf({ layout: 'narrow' })).to.match(/no column "sensor"/)
    expect(await messageOf({ layout: 'document' })).to.match(/no column "measurements"/)
  })
})
