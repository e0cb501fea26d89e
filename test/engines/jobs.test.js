import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import pg from 'pg'
import { STAGE_TOPICS } from '../../broker/kafka/topics.js'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { missingCassandra, startCassandra } from '../servers/cassandra.js'
import { flinkCommand, missingFlink } from '../servers/engines/flink.js'
import { startJob } from '../servers/engines/job.js'
import { missingSpark, sparkCommand, sparkEnvironment, sparkScript } from '../servers/engines/spark.js'
import { missingKafka, startKafka } from '../servers/kafka.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { requireServer } from '../servers/programs.js'
import { batchOf, ledgerOf } from './jobs/ledger.js'
import { produce, stage, stageOut } from './jobs/stage.js'
import { StoredInCassandra, StoredInPostgresql } from './jobs/stored.js'

/** @typedef {import('../servers/engines/job.js').Job} Job */

const MANY = { topic: 'many', batches: 100, rows: 10_000 }
const FEW = { topic: 'few', batches: 8, rows: 500 }
/** Rows of one day before are too late for windows that are open. */
const LATE = { seq: -1200, rows: 5000 }
/** On a machine that does much else. */
const JOB_MS = 15 * 60_000

const SOURCES = ['lathe', 'press']
const batchesOf = (/** @type {{batches: number, rows: number}} */ { batches, rows }) =>
  Array.from({ length: batches }, (_, i) => batchOf(rows, Math.floor(i / 2), SOURCES[i % 2]))

const ENGINES = {
  Flink: {
    missing: missingFlink,
    command: (/** @type {string} */ temporary) => [...flinkCommand('sluice.Job', {
      temporary, options: ['-Xmx768m', '-Dorg.slf4j.simpleLogger.log.org.apache.flink.runtime.checkpoint=info']
    })],
    options: ['--checkpoint-seconds', '1'],
    endsByItself: false,
    environment: {},
    /** whether there is anything that a restart goes on from */
    hasCheckpoint: async (/** @type {string} */ checkpoints) => (await filesBelow(checkpoints)).some(name => name.endsWith('_metadata')),
    goesOn: /from savepoint \S+chk-\d+/i
  },
  Spark: {
    missing: missingSpark,
    command: (/** @type {string} */ temporary) => [...sparkCommand({ temporary }), sparkScript('job')],
    options: ['--records-at-once', '10', '--until-now'],
    endsByItself: true,
    environment: sparkEnvironment,
    hasCheckpoint: async (/** @type {string} */ checkpoints) => (await filesBelow(checkpoints)).some(name => /commits\/\d+$/.test(name)),
    goesOn: /Resuming at batch [1-9]/
  }
}

describe('Jobs of engines that read Sluice\'s batches', function () {
  this.timeout(2.5 * JOB_MS)
  /** @type {import('../servers/kafka.js').KafkaServer} */
  let kafka
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {import('../servers/cassandra.js').CassandraServer} */
  let cassandra
  let folder = ''
  /** @type {Promise<void>|null} */
  let staged = null
  /** @type {Set<Job>} */
  const jobs = new Set()
  const [many, few] = [MANY, FEW].map(batchesOf)

  before(async function () {
    requireServer(this, 'kafka', missingKafka())
    requireServer(this, 'cassandra', missingCassandra())
    requirePostgresql(this)
    folder = await mkdtemp(join(tmpdir(), 'sluice-jobs-'))
    kafka = await startKafka()
    postgresql = await startPostgresql()
    cassandra = await startCassandra()
    await stage(kafka, FEW.topic, few)
    await stageOut(kafka, few)
    const late = batchOf(LATE.rows, LATE.seq, 'lathe')
    await produce(kafka, FEW.topic, [encode(few[0]), Buffer.from('no batch'), encode(late)], { isCommitted: true })
    await produce(kafka, FEW.topic, [encode(batchOf(10, 1_000_000, 'press'))], { isCommitted: false })
  })

  afterEach(async () => {
    for (const job of jobs) await job.kill()
    jobs.clear()
  })

  after(async () => {
    await Promise.all([kafka?.remove(), postgresql?.remove(), cassandra?.remove()])
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  for (const [name, { missing, command, options, endsByItself, environment, hasCheckpoint, goesOn }] of Object.entries(ENGINES)) {
    describe(name, () => {
      const its = name.toLowerCase()
      /** @type {StoredInPostgresql[]} */
      const opened = []

      before(function () { requireServer(this, its, missing()) })
      afterEach(async () => { for (const each of opened.splice(0)) await each.close() })

      /** A database of its own. @param {string} topic */
      const databaseFor = async topic => {
        const database = `${its}_${topic}`
        const client = new pg.Client({ host: '127.0.0.1', port: postgresql.port, user: postgresql.user, password: postgresql.password })
        await client.connect()
        await client.query(`CREATE DATABASE ${database}`)
        await client.end()
        const stored = await new StoredInPostgresql(postgresql, database).open()
        opened.push(stored)
        return stored
      }

      /** @param {string} topic @param {string[]} [more] */
      const start = (topic, more = []) => {
        const [program, ...args] = command(folder)
        const job = startJob(program, [
          ...args, '--kafka', `127.0.0.1:${kafka.port}`, '--topic', topic, '--checkpoints', join(folder, `${its}-${topic}`),
          '--postgresql', `postgresql://${postgresql.user}@127.0.0.1:${postgresql.port}/${its}_${topic}`, ...options, ...more
        ], { folder, environment: { ...environment, POSTGRESQL_PASSWORD: postgresql.password } })
        jobs.add(job)
        return job
      }

      /**
       * Until it has stored all there is, and whatever it might store besides.
       * @param {Job} job @param {string} topic @param {() => Promise<boolean>} isAll
       */
      const toItsEnd = async (job, topic, isAll) => {
        while (!endsByItself && job.isRunning && !await isAll()) await sleep(200)
        const checkpoints = join(folder, `${its}-${topic}`)
        const known = await filesBelow(checkpoints)
        const isNew = (/** @type {string} */ file) => file.endsWith('_metadata') && !known.includes(file)
        const isLater = async () => (await filesBelow(checkpoints)).some(isNew)
        while (!endsByItself && job.isRunning && !await isLater()) await sleep(200)
        if (!endsByItself && job.isRunning) return job.kill()
        const code = await job.ended
        if (code !== 0) throw new Error(`${name} ended with ${code}:\n${job.log.slice(-8000)}`)
      }

      /** @param {StoredInPostgresql|StoredInCassandra} stored @param {import('./jobs/ledger.js').Ledger} ledger */
      const isAllIn = async (stored, ledger) => {
        const { rows, windows } = await stored.totals()
        return rows === ledger.rows && windows === Object.values(ledger.windows).reduce((sum, { count }) => sum + count, 0)
      }

      it('stores a million staged rows and their statistics exactly once when it is killed in the middle', async () => {
        const ledger = ledgerOf(many)
        staged ??= stage(kafka, MANY.topic, many)
        await staged
        const stored = await databaseFor(MANY.topic)
        const job = start(MANY.topic)
        while (await stored.rows() < ledger.rows / 5 || !await hasCheckpoint(join(folder, `${its}-${MANY.topic}`))) {
          if (!job.isRunning) throw new Error(`It has ended:\n${job.log.slice(-8000)}`)
          await sleep(50)
        }
        await job.kill()
        expect(await stored.rows()).to.be.below(ledger.rows)
        const next = start(MANY.topic)
        await toItsEnd(next, MANY.topic, () => isAllIn(stored, ledger))
        expect(next.log).to.match(goesOn)
        const { rows, fields, windows, unread } = await stored.ledger()
        expect(rows).to.equal(1_000_000)
        expect(fields).to.deep.equal(ledger.fields)
        expect(windows).to.deep.equal(ledger.windows)
        expect(unread).to.deep.equal([])
      })

      it('stores in both databases what is committed, what comes twice once, what is late, and what is no batch beside it', async () => {
        const ledger = ledgerOf([...few, batchOf(LATE.rows, LATE.seq, 'lathe')])
        const stored = await databaseFor(FEW.topic)
        const inCassandra = await new StoredInCassandra(cassandra).open()
        try {
          const job = start(FEW.topic, ['--cassandra', `cassandra://127.0.0.1:${cassandra.port}/engines`])
          const databases = [stored, inCassandra]
          await toItsEnd(job, FEW.topic, async () => (await Promise.all(databases.map(each => isAllIn(each, ledger)))).every(Boolean))
          for (const database of databases) {
            const { rows, fields, windows, unread } = await database.ledger()
            expect(rows).to.equal(ledger.rows)
            expect(fields).to.deep.equal(ledger.fields)
            expect(windows).to.deep.equal(ledger.windows)
            expect(unread).to.have.length(1)
          }
          expect(await stored.times()).to.deep.equal([321])
        } finally {
          await inCassandra.close()
        }
      })

      it('reads the topic that batches are staged in as well', async () => {
        const topic = STAGE_TOPICS.data.name
        const ledger = ledgerOf(few)
        const stored = await databaseFor(topic)
        const job = start(topic)
        await toItsEnd(job, topic, () => isAllIn(stored, ledger))
        const { rows, fields, windows, unread } = await stored.ledger()
        expect({ rows, fields, windows, unread }).to.deep.equal({ ...ledger, unread: [] })
      })
    })
  }
})

/** @param {string} folder @returns {Promise<string[]>} */
async function filesBelow (folder) {
  return /** @type {Promise<string[]>} */ (readdir(folder, { recursive: true })).catch(() => [])
}
