import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { KafkaStaging } from '../broker/kafka/staging.js'
import { FakeDatabase, Pipeline, until } from '../broker/pipeline.js'
import { historyTest } from '../chaos/history.js'
import { missingKafka } from '../servers/kafka.js'
import { requireServer } from '../servers/programs.js'

/** For a Kafka that begins again. */
const BACK_MS = 120_000

describe('History test over Kafka', function () {
  this.timeout(1_200_000)

  before(function () { requireServer(this, 'kafka', missingKafka()) })

  historyTest('kafka', 24)
})

describe('Staged in Kafka, of which a copy is put back', function () {
  this.timeout(600_000)
  const kafka = KafkaStaging.inSuite()
  /** @type {Pipeline} */
  let pipeline
  /** @type {FakeDatabase} */
  let database

  beforeEach(async () => {
    pipeline = await Pipeline.create({ kafka: kafka.options })
    database = new FakeDatabase('history')
    pipeline.addSink(database)
    await pipeline.openConsumer(['history'])
  })
  afterEach(async () => {
    await pipeline.close()
    await kafka.clear()
  })

  /** @param {import('../../broker/out/stage.js').Stage} stage @param {number} count */
  async function store (stage, count) {
    await pipeline.produce(stage, count)
    const told = () => `${pipeline.produced} rows, ${database.rows.length} are there`
    await until(() => database.rows.length >= pipeline.produced, told, BACK_MS)
  }

  function holdsExactlyTheProduced () {
    expect([...database.rows].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: pipeline.produced }, (_, i) => i))
  }

  it('of the cluster: what it has forgotten since is sent again, and what databases have is not stored again', async () => {
    const { server } = kafka
    const copy = join(pipeline.folder, 'kafka')
    const { it: stage } = await pipeline.openStage()
    await store(stage, 200)
    await server.kill()
    await cp(server.data, copy, { recursive: true })
    await server.start()
    await store(stage, 200)
    database.busy = Promise.reject(new Error('away')) // the last are in Kafka, and nowhere but in the spool otherwise
    database.busy.catch(() => {})
    await pipeline.produce(stage, 100)
    await server.kill()
    await rm(server.data, { recursive: true })
    await cp(copy, server.data, { recursive: true })
    database.busy = null
    await server.start()
    await store(stage, 200)
    await until(() => stage.spool.next() === null, () => 'a spool that has nothing more to send', BACK_MS)
    holdsExactlyTheProduced()
  })

  it('of the spool: what it held then comes again and is left out, and what is produced next is stored', async () => {
    const spool = join(pipeline.folder, 'out')
    const copy = join(pipeline.folder, 'copy')
    const first = await pipeline.openStage()
    await store(first.it, 100)
    await pipeline.produce(first.it, 50)
    await first.close()
    await cp(spool, copy, { recursive: true })
    const second = await pipeline.openStage()
    await store(second.it, 100)
    await second.close()
    await rm(spool, { recursive: true })
    await cp(copy, spool, { recursive: true })
    const { it: stage } = await pipeline.openStage()
    await store(stage, 100)
    await until(() => stage.spool.next() === null, () => 'a spool that has nothing more to send', BACK_MS)
    holdsExactlyTheProduced()
  })
})
