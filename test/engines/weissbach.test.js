import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { runStudy } from '../../gateway/bench/studies/run.js'
import { weissbach } from '../../gateway/bench/studies/weissbach/study.js'
import { missingCassandra } from '../servers/cassandra.js'
import { missingFlink } from '../servers/engines/flink.js'
import { missingSpark } from '../servers/engines/spark.js'
import { measuredServers } from '../servers/measured.js'
import { requirePostgresql } from '../servers/postgresql.js'
import { requireServer } from '../servers/programs.js'

const SWEEP = { databases: ['postgresql', 'cassandra'], batchSizes: [1], rows: 40, seconds: 1, warmUpSeconds: 0.1 }

describe('Engines in the study of Weißbach, Hilbert and Springer', function () {
  this.timeout(20 * 60_000)
  let folder = ''
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('are measured beside a flow, compare every read, and leave a row for each id', async function () {
    requirePostgresql(this)
    requireServer(this, 'cassandra', missingCassandra())
    requireServer(this, 'flink', missingFlink())
    requireServer(this, 'spark', missingSpark())
    const only = {
      ...weissbach,
      plan: (/** @type {any} */ options) => {
        const { cells, cut } = weissbach.plan(options)
        return { cells: cells.filter(({ parameters: { pattern, blobBytes } }) => pattern === 'mixed' && blobBytes === 1), cut }
      }
    }
    const options = { isFull: false, sweep: SWEEP }
    const result = await runStudy(only, { folder, options, servers: name => measuredServers[name], environment: {} })
    expect(result.cells.map(({ id, state, ...more }) => [id, 'reason' in more ? more.reason : state])).to.deep.equal([
      ...['', 'flink-', 'spark-'].map(engine => [`${engine}postgresql-1-mixed-1-4`, 'done']),
      ...['', 'flink-', 'spark-'].map(engine => [`${engine}cassandra-1-mixed-1-4`, 'done'])
    ])
    for (const cell of result.cells) {
      if (cell.state !== 'done') throw new Error(cell.reason)
      const { id, measures } = cell
      expect(measures.recordsPerSecond, id).to.be.above(0)
      expect(measures.readMeanMicroseconds, id).to.be.above(0)
      expect(measures.writeMeanMicroseconds, id).to.be.above(0)
      expect(measures.rows, id).to.be.at.least(40)
      expect(measures.comparedReads, id).to.be.at.least(measures.records)
    }
  })
})
