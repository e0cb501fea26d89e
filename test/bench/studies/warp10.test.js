import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Batch } from '../../../gateway/batch/batch.js'
import { serversOf } from '../../../gateway/bench/servers.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { batchesOf, readLog, writeLog } from '../../../gateway/bench/studies/warp10/log.js'
import { countPoints } from '../../../gateway/bench/studies/warp10/points.js'
import { COLUMNS, LOG_ROWS, MACHINES } from '../../../gateway/bench/studies/warp10/published.js'
import { ingest, warp10 } from '../../../gateway/bench/studies/warp10/study.js'
import { openSink } from '../../../gateway/bench/sinks/open.js'
import { measuredServers } from '../../servers/measured.js'

/** @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult */

const FORMATS = COLUMNS.map(({ format }) => format)
/** The values of a line of the paper. */
const PRINTED = '222 37.0 71.89889 830.909846282 826.901874311 92.0 -11.89 823.158183564 3 -0.05078125 101.818769659 78 15.0 ' +
  '4796.16306954 0.69 0.578125 810.153929247 0.0 86.0 23.0 23.5 53'

describe('the log of the study of Warp 10', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('has 57,841 rows, ten a second, of 22 channels and a position', () => {
    const batches = [...batchesOf(LOG_ROWS, 5000)]
    expect(batches.reduce((sum, { rows }) => sum + rows, 0)).to.equal(57_841)
    const time = batches.flatMap(batch => Array.from(batch.time))
    expect(time[0]).to.equal(1_435_848_939_300_000_000n)
    expect(time.every((ns, i) => ns === time[0] + BigInt(i) * 100_000_000n)).to.equal(true)
    expect(batches.every(({ fields }) => fields.length === 25)).to.equal(true)
  })

  it('is text with as many digits as the paper prints', async () => {
    const log = writeLog(join(folder, 'log'), { format: 'multi-value', rows: 1000, batchRows: 300 })
    const lines = (await readFile(log.path, 'utf8')).trimEnd().split('\n')
    expect(lines).to.have.length(1000)
    expect(lines[0]).to.match(/^1435848939300000\/47\.\d+:4\.\d+\/\d+ allchannels\{id=xaaabvb\} \[ -?\d+ \d+\.0 .* \]$/)
    const values = lines.map(line => line.slice(line.indexOf('[ ') + 2, -2))
    expect(values.reduce((sum, text) => sum + text.length, 0) / 1000).to.be.closeTo(PRINTED.length, PRINTED.length * 0.05)
    const kinds = (/** @type {string} */ text) => text.split(' ').map(value => value.includes('.') ? 'decimal' : 'whole')
    expect(kinds(values[0])).to.deep.equal(kinds(PRINTED))
  })

  it('is the same rows in every format, whatever its pieces', () => {
    const rowsOf = (/** @type {import('../../../gateway/batch/batch.js').Batch} */ batch) => batch.toObjects().map(row =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, name === 'time' ? value : Number(value)])))
    const [made] = [...batchesOf(50, 50)].map(rowsOf)
    for (const format of FORMATS) {
      const log = writeLog(join(folder, format), { format, rows: 50, batchRows: 20 })
      expect(log.pieces).to.have.length(3)
      const read = [...readLog(log)]
      expect(read.map(({ rows, identity }) => [rows, identity?.seq])).to.deep.equal([[20, 0], [20, 1], [10, 2]])
      const rounded = (/** @type {Record<string, any>[]} */ rows) => rows.map(row => ({ ...row, elevation: row.elevation.toFixed(3) }))
      expect(rounded(read.flatMap(rowsOf)), format).to.deep.equal(rounded(made))
    }
  })

  it('lets the database end what it is writing when it is stopped', async () => {
    const log = writeLog(join(folder, 'log'), { format: 'multi-value', rows: 40, batchRows: 10 })
    const stop = new AbortController()
    /** @type {string[]} */
    const calls = []
    const sink = {
      prepare: async () => {},
      async write () {
        calls.push('writes')
        stop.abort()
        await new Promise(resolve => { setImmediate(resolve) })
        calls.push('has written')
      }
    }
    const close = async () => { calls.push('closed') }
    const error = await ingest(/** @type {any} */ ({ sink, close }), log, stop.signal).catch(reason => reason)
    expect(error).to.equal(stop.signal.reason)
    expect(calls).to.deep.equal(['writes', 'has written', 'closed'])
  })

  it('is counted in the database: a point that is missing there is missed', async () => {
    const address = { type: 'sqlite', options: { file: join(folder, 'log.sqlite') } }
    const { sink, close } = await openSink(address, 1)
    const [batch] = [...batchesOf(20, 20)]
    const { source, time, fields, columns } = batch
    const validity = fields.map(({ name }) => name === 'speed' ? Uint8Array.from(time, (_, row) => row < 7 ? 1 : 0) : null)
    await sink.write([new Batch({ source, time, fields, columns, validity })])
    await close()
    expect(await countPoints(address, ['speed', 'torque'])).to.equal(27)
  })
})

describe('the study of Warp 10', function () {
  this.timeout(120_000)
  /** @type {StudyResult} */
  let result
  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    const sweep = { databases: ['sqlite', 'file', 'postgresql', 'mysql'], rows: 100, batchSizes: [40] }
    const { postgresql } = measuredServers
    const servers = serversOf({}, {}, { postgresql })
    result = await runStudy(warp10, { folder, options: { isFull: false, sweep }, servers, environment: {} })
    await rm(folder, { recursive: true })
  })

  it('stores the log in every format, all of whose points are there', () => {
    const has = postgresqlIsHere() ? ['sqlite', 'file', 'postgresql'] : ['sqlite', 'file']
    const done = result.cells.filter(cell => cell.state === 'done')
    expect(done.map(({ parameters }) => [parameters.database, parameters.format])).to.deep.equal(
      has.flatMap(database => FORMATS.map(format => [database, format]))
    )
    expect(done.every(({ measures }) => measures.points === 2200 && measures.pointsPerSecond > 0)).to.equal(true)
    expect(done.every(({ measures }) => measures.readPointsPerSecond > measures.pointsPerSecond)).to.equal(true)
  })

  it('reports them beside all machines of the paper, and says what is not here', () => {
    const [{ blocks: [table] }] = warp10.report(result)
    if (table.kind !== 'table') throw new Error('a table')
    const rowOf = (/** @type {string} */ label) => table.rows.find(row => row.label.startsWith(label))?.figures
    expect(rowOf('SQLite')?.map(({ published }) => published)).to.deep.equal([113_000, 340_000, 430_000, 1_000_000, null])
    expect(rowOf('mysql')?.[0]).to.include({ value: null, reason: 'no server; name one with --mysql URL' })
    expect(rowOf('Warp 10: Raspberry Pi 4B, RAM drive')).to.deep.equal(
      [17_000, 23_000, 55_000, 195_000, 330_000].map(published => ({ value: null, published }))
    )
    expect(table.rows.filter(({ label }) => label.startsWith('Warp 10'))).to.have.length(8)
    expect(table.notes?.join(' ')).to.contain('57,841 × 22 is 1,272,502')
    expect(LOG_ROWS * 22).to.equal(1_272_502)
  })

  it('stands beside a small machine where it was limited to be like one', () => {
    const [{ blocks: [table] }] = warp10.report({ ...result, limited: 'half a core' })
    const [first] = table.kind === 'table' ? table.rows : []
    expect(first.figures.map(({ published }) => published)).to.deep.equal(Object.values(MACHINES[5].pointsPerSecond))
  })

  it('measures the whole log, five times where it is full', () => {
    const quick = warp10.plan({ isFull: false, sweep: {} })
    expect(quick.cells).to.have.length(45)
    expect(quick.cut).to.deep.equal([])
    expect(quick.cells.reduce((sum, { seconds }) => sum + seconds, 0)).to.be.below(4 * 60)
    const { cells: [first] } = warp10.plan({ isFull: true, sweep: {} })
    expect(first.parameters).to.deep.equal({
      database: 'postgresql', format: 'naive', rows: 57_841, batchRows: 5000, repetitions: 5
    })
  })
})

function postgresqlIsHere () {
  return measuredServers.postgresql.missing() === null
}
