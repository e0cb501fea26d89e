import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { serversOf } from '../../../gateway/bench/servers.js'
import { writeReport } from '../../../gateway/bench/studies/report/write.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { ingested } from '../../../gateway/bench/studies/scits/ingest.js'
import { openDatabase } from '../../../gateway/bench/studies/scits/opened.js'
import { asked, runOnce } from '../../../gateway/bench/studies/scits/queries.js'
import { scits } from '../../../gateway/bench/studies/scits/study.js'
import { measuredServers } from '../../servers/measured.js'
import { requirePostgresql } from '../../servers/postgresql.js'

/**
 * @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult
 * @typedef {import('../../../gateway/bench/studies/study.js').DoneCell} DoneCell
 */

describe('the study SciTS, measured', function () {
  this.timeout(300_000)
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true }))

  const sweep = { batchSizes: [100], writers: [2], repetitions: 3, rows: 2000, seconds: 20, sensors: [20], cache: 'warm' }
  const servers = serversOf({}, {}, measuredServers)

  /** @param {StudyResult} result */
  const doneOf = ({ cells }) => /** @type {DoneCell[]} */ (cells.map(cell => {
    if (cell.state !== 'done') throw new Error(`${cell.label}: ${cell.reason}`)
    return cell
  }))

  /** Concurrency is measured by time alone: here, for a moment. @param {string} database */
  const run = database => {
    const options = { isFull: false, sweep: { ...sweep, databases: [database] } }
    const { cells, cut } = scits.plan(options)
    const brief = cells.map(({ parameters, ...cell }) => {
      return { ...cell, parameters: parameters.workload === 'concurrency' ? { ...parameters, seconds: 0.3 } : parameters }
    })
    return runStudy({ ...scits, plan: () => ({ cells: brief, cut }) }, { folder, options, servers, environment: {} })
  }

  it('stores its rows in SQLite, and reads them by its five queries', async () => {
    const result = await run('sqlite')
    const done = doneOf(result)
    expect(done.map(({ id }) => id)).to.deep.equal([
      'sqlite-batching-100', 'sqlite-concurrency-2', 'sqlite-scaling', ...['Q1', 'Q2', 'Q3', 'Q4', 'Q5'].map(id => `sqlite-${id}`)
    ])
    expect(done[0].measures).to.include({ rows: 300, failedBatches: 0 })
    expect(done[0].samples?.batchMicroseconds).to.have.length(3)
    expect(done[2].measures.rows).to.equal(2000)
    // 100 rows of each of 20 sensors in 15 days: 6.67 a day.
    const [q1, q2, q3, q4, q5] = done.slice(3).map(({ measures }) => measures)
    expect(q1.points).to.be.within(0, 10)
    expect(q2.points).to.be.within(0, 3)
    expect(q3.points).to.be.within(0, 1)
    expect(q4.points).to.be.within(60, 70)
    expect(q5.points).to.be.within(0, 7)
    expect([q1, q2, q3, q4, q5].every(({ meanMilliseconds, coldRuns }) => meanMilliseconds > 0 && coldRuns === 0)).to.equal(true)
    await writeReport(folder, result, scits.report(result), scits.files?.(result))
    expect(await readFile(join(folder, 'scits.csv'), 'utf8')).to.include('SQLite')
    expect(await readFile(join(folder, 'report.html'), 'utf8')).to.include('Figure 2')
  })

  it('stores and reads on a server, by the index on time and sensor', async function () {
    requirePostgresql(this)
    const done = doneOf(await run('postgresql'))
    const [batching, concurrency, scaling, , , , q4] = done
    expect([batching.measures.rows, scaling.measures.rows]).to.deep.equal([300, 2000])
    expect(concurrency.measures.rows).to.be.above(0)
    expect(concurrency.measures.serverRssBytes).to.be.above(0)
    expect(scaling.series?.rowsPerSecond.values.length).to.be.above(0)
    expect(q4.measures.points).to.be.within(60, 70)
    expect(batching.version).to.match(/^PostgreSQL \d/)
  })

  it('writes the rows again for a query that was not measured before it was stopped', async () => {
    await run('sqlite')
    const path = join(folder, 'cells.jsonl')
    const kept = (await readFile(path, 'utf8')).split('\n').filter(line => !line.includes('"sqlite-Q4"')).join('\n')
    await writeFile(path, kept)
    const q4 = doneOf(await run('sqlite')).find(({ id }) => id === 'sqlite-Q4')
    expect(q4?.measures).to.include({ datasetRows: 2000 })
    expect(q4?.measures.points).to.be.within(60, 70)
  })

  it('runs a query cold where it may restart the server, and says so where it may not', async function () {
    requirePostgresql(this)
    const { signal } = new AbortController()
    const opened = await openDatabase('postgresql', folder, servers)
    try {
      const rows = { batchRows: 100, clients: 1, sensors: 5, startMs: 0, stepNs: 1_000_000_000, batches: 2, seconds: 60 }
      await ingested({ ...rows, database: 'postgresql' }, opened, signal)
      const query = asked('Q1', { sensors: 5, startNs: 0n, endNs: 200_000_000_000n }, 0)
      let dropped = 0
      const options = { isCold: true, signal, drop: async () => { dropped++ } }
      const before = [opened.running.watched?.pid].flat()
      const cold = await runOnce(query, opened, options)
      expect(cold).to.deep.include({
        points: 200, cache: { cache: 'cold', cacheReason: 'the server was restarted, and the system\'s caches were dropped' }
      })
      expect([opened.running.watched?.pid].flat()).not.to.deep.equal(before)
      const warm = await runOnce(query, { ...opened, restart: null }, options)
      expect(warm).to.deep.include({ points: 200, cache: { cache: 'warm', cacheReason: 'the server may not be restarted' } })
      expect(dropped).to.equal(1)
    } finally {
      await opened.remove()
    }
  })

  it('asks the server once whether it has TimescaleDB', async function () {
    requirePostgresql(this)
    let started = 0
    const { start, missing } = measuredServers.postgresql
    const counting = serversOf({}, {}, { postgresql: { missing, start: options => { started++; return start(options) } } })
    const { cells } = scits.plan({ isFull: false, sweep: { databases: ['timescaledb'] } })
    for (const cell of cells) expect(await scits.missing(cell, counting)).to.be.oneOf([null, 'This PostgreSQL has no TimescaleDB.'])
    expect(started).to.equal(1)
  })

  it('ends when it is stopped, and keeps what it has', async () => {
    const stop = new AbortController()
    const plan = scits.plan({ isFull: false, sweep: { ...sweep, databases: ['sqlite'], rows: 1_000_000_000, seconds: 3600 } })
    const cells = plan.cells.filter(({ parameters }) => parameters.workload !== 'concurrency')
    const result = await runStudy({ ...scits, plan: () => ({ ...plan, cells }) }, {
      folder,
      options: { isFull: false, sweep: {} },
      servers,
      environment: {},
      signal: stop.signal,
      progress: ({ label }) => { if (label.endsWith('scaling')) setTimeout(() => stop.abort(), 100) }
    })
    expect(result.isComplete).to.equal(false)
    expect(result.cells.map(({ id }) => id)).to.deep.equal(['sqlite-batching-100'])
  })
})
