import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { serversOf } from '../../../gateway/bench/servers.js'
import { haenisch } from '../../../gateway/bench/studies/haenisch/study.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { measuredServers } from '../../servers/measured.js'
import { requirePostgresql } from '../../servers/postgresql.js'

/** @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult */

describe('the study of Haenisch, Roessle and Kübler', function () {
  this.timeout(60_000)
  /** @type {StudyResult} */
  let result
  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    const sweep = { databases: ['sqlite', 'file', 'mysql'], batchSizes: [10, 100], writers: [1, 2], rows: 1000, seconds: 10 }
    result = await runStudy(haenisch, { folder, options: { isFull: false, sweep }, servers: serversOf({}, {}, {}), environment: {} })
    await rm(folder, { recursive: true })
  })

  it('measures every database, size and number of writers, and says which are not here', () => {
    const states = Object.groupBy(result.cells, ({ parameters }) => String(parameters.database))
    expect(states.sqlite?.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'done'])
    expect(states.file?.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'done'])
    expect(states.mysql?.map(cell => 'reason' in cell && cell.reason)).to.deep.equal(Array(4).fill('no server; name one with --mysql URL'))
  })

  it('writes all the rows that it was asked for, which are counted in the database', () => {
    const done = result.cells.filter(cell => cell.state === 'done')
    expect(done.map(({ measures }) => measures.rows)).to.deep.equal(Array(8).fill(1000))
    expect(done.every(({ measures }) => measures.rowsPerSecond > 0)).to.equal(true)
  })

  it('reports the best of each system beside the paper, with the reason where there is none', () => {
    const [{ blocks: [table] }] = haenisch.report(result)
    if (table.kind !== 'table') throw new Error('a table')
    const figureOf = (/** @type {string} */ label) => table.rows.find(row => row.label.startsWith(label))?.figures[0]
    expect(figureOf('Files')).to.include({ published: 6107 })
    expect(figureOf('Files')?.value).to.be.a('number')
    expect(figureOf('MySQL')).to.deep.equal({ value: null, published: 743, reason: 'no server; name one with --mysql URL' })
    expect(figureOf('MongoDB')).to.deep.equal({ value: null, published: 156, reason: 'It was not chosen.' })
    expect(figureOf('Kafka')).to.deep.equal({ value: null, published: 1522, reason: 'It was not chosen.' })
    expect(figureOf('VoltDB')).to.deep.equal({ value: null, published: 345, reason: 'It was not chosen.' })
    expect(figureOf('SAP HANA')).to.deep.equal({ value: null, published: 506, reason: 'Commercial: there is no server of it to measure.' })
    expect(figureOf('here SQLite')?.value).to.be.a('number')
    expect(result.environment.Databases).to.match(/^SQLite [\d.]+, /)
  })

  it('names a system once that was chosen and is not there', () => {
    const absent = { cells: [{ id: 'hana', label: 'hana', parameters: { database: 'hana' }, state: 'absent', reason: 'none' }] }
    const [{ blocks: [table] }] = haenisch.report(/** @type {any} */ (absent))
    if (table.kind !== 'table') throw new Error('a table')
    expect(table.rows.filter(({ label }) => /hana/i.test(label))).to.have.length(1)
  })

  it('reports what the best cell takes of processor and memory, and where that of an embedded database is', () => {
    const [{ blocks: [, table] }] = haenisch.report(result)
    if (table.kind !== 'table') throw new Error('a table')
    expect(table.columns.map(({ title, unit }) => `${title} ${unit}`)).to.deep.equal([
      'Server CPU %', 'Server memory, MB', 'Writers CPU %', 'Client CPU %', 'Client memory, MB'
    ])
    const [{ label, figures: [serverCpu, serverMemory, , clientCpu, clientMemory] }] = table.rows
    expect(label).to.match(/^SQLite/)
    expect([serverCpu, serverMemory]).to.deep.equal(Array(2).fill({ value: null, reason: 'It is in the client.' }))
    if (process.platform !== 'linux') return
    expect(clientCpu.value).to.be.above(0)
    expect(clientMemory.value).to.be.within(10, 10_000)
  })

  it('shows the processor time and memory of a server beside its client\'s', async function () {
    requirePostgresql(this)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    const sweep = { databases: ['postgresql'], batchSizes: [100], writers: [2], rows: 2000, seconds: 10, clientsAs: 'processes' }
    const measured = await runStudy(haenisch, {
      folder, options: { isFull: false, sweep }, servers: serversOf({}, {}, measuredServers), environment: {}
    })
    await rm(folder, { recursive: true })
    const [cell] = measured.cells
    if (cell.state !== 'done') throw new Error(cell.reason)
    expect(cell.parameters.clientsAs).to.equal('processes')
    if (process.platform !== 'linux') return
    const [{ blocks: [, table] }] = haenisch.report(measured)
    if (table.kind !== 'table') throw new Error('a table')
    const [{ figures: [serverCpu, serverMemory] }] = table.rows
    expect(serverCpu.value).to.equal(cell.measures.serverCpuPercent).and.to.be.above(0)
    expect(serverMemory.value).to.equal(cell.measures.serverRssBytes / 1e6).and.to.be.above(10)
  })

  it('lists the cells in which batches failed, with how many and how long they took', () => {
    const [, , { blocks: before }] = haenisch.report(result)
    expect(before.map(({ caption }) => caption)).to.not.include('Batches that failed')
    const [first, ...others] = result.cells
    if (first.state !== 'done') throw new Error(first.reason)
    const failing = { ...first, measures: { ...first.measures, batches: 97, failedBatches: 3, failedMedianMicroseconds: 101_500 } }
    const [, , { blocks }] = haenisch.report({ ...result, cells: [failing, ...others] })
    const table = blocks.find(({ caption }) => caption === 'Batches that failed')
    if (table?.kind !== 'table') throw new Error('a table')
    expect(table.rows).to.deep.equal([{ label: first.label, figures: [{ value: 3 }, { value: 101.5 }, { value: 97 }] }])
  })

  it('draws the rate by the size of batches', () => {
    const [, { blocks: [lines] }] = haenisch.report(result)
    if (lines.kind !== 'lines') throw new Error('lines')
    expect(lines.lines.map(({ label, x }) => [label, x])).to.deep.equal([['sqlite', [10, 100]], ['file', [10, 100]]])
  })

  it('has the sizes of the paper where it is full', () => {
    const { cells, cut } = haenisch.plan({ isFull: true, sweep: { databases: ['mysql'] } })
    expect(cells).to.have.length(28)
    expect(cut).to.deep.equal([])
    expect(cells.at(-1)?.parameters).to.deep.equal({ database: 'mysql', batchRows: 10_000, writers: 8, rows: 1_000_000, seconds: 30 })
  })
})
