import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { serversOf } from '../../../gateway/bench/servers.js'
import { Client } from '../../../gateway/bench/studies/arnst/client.js'
import { expectedAt } from '../../../gateway/bench/studies/arnst/expected.js'
import { AMPLITUDE, PERIOD_NS, samplesAt } from '../../../gateway/bench/studies/arnst/machine.js'
import { measureReading } from '../../../gateway/bench/studies/arnst/reading.js'
import { benchOf } from '../../../gateway/bench/sinks/bench-of.js'
import { Stand } from '../../../gateway/bench/studies/arnst/stand.js'
import { arnst } from '../../../gateway/bench/studies/arnst/study.js'
import { fill } from '../../../gateway/bench/studies/arnst/writing.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { edgeOf, minimumOf } from '../../../gateway/databases/reading/compute.js'
import { cycleTimes } from '../../../gateway/queries/cycle.js'
import { missingMariadb } from '../../servers/mariadb.js'
import { measuredServers } from '../../servers/measured.js'
import { requireServer } from '../../servers/programs.js'
import { requireLinux } from '../../stats/monitor/linux.js'

/**
 * @typedef {import('../../../gateway/databases/reader.js').Reader} Reader
 * @typedef {import('../../../gateway/bench/studies/arnst/writer.js').Stored} Stored
 */

const START_NS = 1_518_465_409_123_000_000n
const NEVER = new AbortController().signal

describe('the study of Arnst, Plenk and Wöltche: the cycle that a reader must find', () => {
  it('is the one that the query of the product finds, also where samples are missing', async () => {
    for (const runs of /** @type {Stored['runs'][]} */ ([[[0, 5000]], [[0, 1200], [1240, 1300], [1310, 2400], [2500, 5000]]])) {
      const stored = { startNs: START_NS, runs, samples: 0 }
      const searchable = inMemory(stored)
      let found = 0
      for (let at = START_NS; at < START_NS + 5_000_000_000n; at += 97_300_001n) {
        const times = await cycleTimes(searchable, { sensors: [], angle: 'm0', amplitude: AMPLITUDE, at, from: 0n, to: 2n ** 62n })
        const expected = expectedAt(at, stored)
        expect(times).to.deep.equal(expected && { start: expected.start, end: expected.end })
        if (expected) found++
      }
      expect(found).to.be.above(35)
    }
  })

  it('has the sums of the samples between its ends, both included', () => {
    const stored = { startNs: START_NS, runs: /** @type {Stored['runs']} */ ([[0, 5000]]), samples: 5000 }
    const expected = expectedAt(START_NS + 2_000_000_000n, stored)
    if (!expected) throw new Error('there is one')
    const { times: [t1, t2, t3, t4, t5], start, end, sums } = expected
    expect([start, end]).to.deep.equal([t4, t5])
    expect([t3 < t4, t4 <= t2, t2 < t1, t1 < t5]).to.deep.equal([true, true, true, true])
    expect(Number(end - start) / 1e6, 'the third of a second').to.be.within(300, 380)
    const first = Number((start - START_NS) / PERIOD_NS)
    const { columns } = samplesAt(START_NS, first, Number((end - start) / PERIOD_NS) + 1)
    expect(sums).to.deep.equal(columns.map(column => Array.from(column, Number).reduce((sum, value) => sum + value, 0)))
  })
})

describe('the study of Arnst, Plenk and Wöltche: a run', function () {
  this.timeout(120_000)
  /** @type {string} */
  let folder
  before(function () { requireLinux(this) })
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const run = (/** @type {string} */ database, /** @type {string} */ layout) => runStudy(arnst, {
    folder,
    options: { isFull: false, sweep: { databases: [database], layouts: [layout], warmUpSeconds: 2, seconds: 1 } },
    servers: serversOf({}, {}, measuredServers),
    environment: {}
  })

  /** @param {Awaited<ReturnType<typeof run>>} result */
  const expectMeasured = result => {
    for (const cell of result.cells) {
      if (cell.state !== 'done') throw new Error(`${cell.id}: ${cell.reason}`)
      const { samples, cycles, clientCpuPercent } = cell.measures
      expect(samples ?? cycles, cell.id).to.be.above(0)
      expect(clientCpuPercent, cell.id).to.be.above(0)
    }
    const titles = arnst.report(result).map(({ title }) => title)
    expect(titles).to.deep.equal(['Scores', 'Writing', 'Reading', 'The data, and how a cycle is found'])
  }

  it('writes in real time into an embedded database, counts it, and reads cycles that are right', async () => {
    const result = await run('sqlite', 'individual')
    expectMeasured(result)
    const write = result.cells.find(({ id }) => id === 'write-sqlite-individual')
    if (write?.state !== 'done') throw new Error('it is done')
    expect(write.series?.m0.values).to.have.length(1000)
    expect(write.measures.samplesPerSecond).to.be.closeTo(write.measures.commitsPerSecond, 10, 'a commit for each sample')
  })

  it('does so with the paper’s table of MariaDB, a row a second', async function () {
    requireServer(this, 'mariadb', missingMariadb())
    const result = await run('mysql', 'bulk')
    expectMeasured(result)
    const bulk = result.cells.find(({ id }) => id === 'write-mysql-bulk')
    if (bulk?.state !== 'done') throw new Error('it is done')
    expect(bulk.measures.commitsPerSecond, 'one a second').to.be.within(0, 3)
    expect(bulk.measures).to.include.keys('serverCpuPercent', 'serverMemoryBytes', 'dataBytesPerSecond')
  })

  it('fails where a reader does not read what was written', async () => {
    const { stand, context, writing } = await filled()
    const database = new DatabaseSync(String(stand.holding('it')?.running.address.options.file))
    database.exec('UPDATE measurement SET value = value + 1 WHERE sensor = \'m3\'')
    database.close()
    const error = await measureReading('it', { ...writing, strategy: 'individual' }, context).catch(reason => reason)
    expect(error.code).to.equal('SLUICE_BENCH_READ')
    await stand.remove()
  })

  it('reads by every strategy what was written before, without measuring that', async () => {
    for (const strategy of /** @type {const} */ (['individual', 'bulk', 'bulk-1'])) {
      const { stand, context, writing } = await filled()
      const { measures, series } = await measureReading('it', { ...writing, strategy }, context)
      expect(measures.cycles).to.be.above(0)
      expect(series?.search.seconds).to.have.length(6)
      await stand.remove()
    }
  })

  it('ends its client when it is stopped', async () => {
    const stop = new AbortController()
    const client = new Client(new URL('../../../gateway/bench/studies/arnst/writer.js', import.meta.url), stop.signal)
    const asked = client.ask('lap').catch(() => 'over')
    stop.abort()
    expect(await asked).to.equal('over')
    await client.end()
    expect(() => process.kill(client.pid, 0)).to.throw('ESRCH')
  })

  /** Four seconds in SQLite. */
  async function filled () {
    const { start } = await benchOf('sqlite')
    const own = await mkdtemp(join(folder, 'stand-'))
    const stand = new Stand(own, where => start(where, serversOf({}, {}, {})))
    const writing = { database: 'sqlite', layout: /** @type {const} */ ('individual'), warmUpSeconds: 0.2, seconds: 3.8 }
    const context = /** @type {any} */ ({ stand, folder: await mkdtemp(join(folder, 'cell-')), signal: NEVER, progress () {} })
    await fill('it', writing, context)
    return { stand, context, writing: { ...writing, seconds: 1 } }
  }
})

/**
 * Samples in memory, searched as by a reader of a database without such functions.
 * @param {Stored} stored @returns {Pick<Reader, 'edge'|'minimum'>}
 */
function inMemory ({ startNs, runs }) {
  const all = runs.flatMap(([from, to]) => {
    const { time, columns: [angle] } = samplesAt(startNs, from, to - from)
    return Array.from(time, (ns, row) => ({ time: ns, sensor: 'm0', value: Number(angle[row]) }))
  })
  /** @type {Pick<Reader, 'samples'>} */
  const reader = { async * samples ({ from, to }) { yield all.filter(({ time }) => time >= from && time < to) } }
  return { edge: limits => edgeOf(reader, limits), minimum: limits => minimumOf(reader, limits) }
}
