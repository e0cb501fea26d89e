import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { serversOf } from '../../../gateway/bench/servers.js'
import { haenisch } from '../../../gateway/bench/studies/haenisch/study.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'

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
    expect(figureOf('Kafka')).to.deep.equal({ value: null, published: 1522, reason: 'Sluice has no Kafka sink.' })
    expect(figureOf('here SQLite')?.value).to.be.a('number')
    expect(result.environment.Databases).to.match(/^SQLite [\d.]+, /)
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
