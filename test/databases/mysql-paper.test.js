import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { isTransient } from '../../gateway/databases/mysql/sink.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { openSimulator } from '../../gateway/simulators/simulator.js'
import { createWriter } from '../../gateway/writer/writer.js'
import { ManualClock, recorder } from '../sources/manual-clock.js'
import { MysqlDatabase } from './mysql-database.js'

describe('MySQL sink: what Arnst, Plenk and Wöltche write', () => {
  const database = MysqlDatabase.inSuite()
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** @param {object} sinkOptions @param {object} writerOptions @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const write = async (sinkOptions, writerOptions, batches) => {
    const sink = await database.openSink(sinkOptions)
    const deadLetters = await openDeadLetterQueue(folder)
    const writer = createWriter({ sink, isTransient, deadLetters, options: writerOptions })
    await sink.prepare(batches)
    const before = await commits()
    const written = batches.map(batch => writer.write(batch))
    await writer.flush()
    await Promise.all(written)
    await writer.close()
    return await commits() - before
  }

  const commits = async () => Number((await database.query('SHOW GLOBAL STATUS LIKE \'Com_commit\''))[0].Value)

  const samples = async (/** @type {number} */ count) => {
    const recording = recorder(new ManualClock(1_518_465_409_000_000_000n))
    openSimulator({ paced: false, batchRows: count, maxSamples: count }, recording)
    await recording.ended
    return recording.batches
  }

  it('individual: five rows in one commit, for each sample', async () => {
    expect(await write({ layout: 'paper-individual' }, { batchRows: 1 }, await samples(300))).to.equal(300)
    const rows = await database.query('SELECT COUNT(*) AS n FROM machine GROUP BY second, nanosecond')
    expect(rows.map(({ n }) => Number(n))).to.deep.equal(Array(300).fill(5))
    const [range] = await database.query('SELECT MIN(measurement) AS low, MAX(measurement) AS high, MAX(number) AS last FROM machine')
    expect(range.low).to.be.at.least(0)
    expect(range.high).to.be.at.most(4095)
    expect(range.last).to.equal(4)
  })

  it('bulk: one row in one commit for a second, whose text is some 47,000 characters long', async () => {
    expect(await write({ layout: 'paper-bulk' }, {}, await samples(1000))).to.equal(1)
    const rows = await database.query('SELECT second, size, LENGTH(measurements) AS length FROM machine')
    expect(rows).to.have.length(1)
    expect(rows[0].size).to.equal(Number(rows[0].length))
    // The paper's example has 47,201 of them: times of nine digits and values of one to four.
    expect(rows[0].size).to.be.within(44_000, 50_000)
  })
})
