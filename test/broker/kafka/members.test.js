import { expect } from 'chai'
import { Share } from '../../../broker/kafka/share.js'
import { FakeDatabase, Pipeline, batchOf, until } from '../pipeline.js'
import { KafkaStaging } from './staging.js'

const SOURCES = Array.from({ length: 24 }, (_, i) => `machine-${i}`)

describe('members of a Kafka group', function () {
  this.timeout(300_000)
  const kafka = KafkaStaging.inSuite()
  /** @type {Pipeline} */
  let pipeline
  /** @type {FakeDatabase} */
  let database

  beforeEach(async () => {
    pipeline = await Pipeline.create({ kafka: { port: kafka.server.port } })
    database = new FakeDatabase('history')
    pipeline.addSink(database)
  })
  afterEach(async () => {
    await pipeline.close()
    await kafka.clear()
  })

  /** @param {string} reader @param {(delivery: import('../pipeline.js').Delivery) => void} [flow] */
  async function openMember (reader, flow = delivery => pipeline.store(delivery, 'history')) {
    const share = new Share()
    const seen = new Set()
    const { it: consumer, close } = await pipeline.openConsumer(['history'], {
      reader,
      consumer: 'group:plant',
      members: share,
      kafka: { group: 'plant', onShare: (partitions, all) => share.assigned(partitions, all) },
      flow: delivery => {
        seen.add(delivery.identity.source)
        flow(delivery)
      }
    })
    return { consumer, share, seen, close, has: () => SOURCES.filter(source => share.has('gw', source)).length }
  }

  let value = 0
  /** @param {import('../../../broker/out/stage.js').Stage} stage @param {number} count  of each source */
  async function produce (stage, count) {
    for (let i = 0; i < count; i++) await Promise.all(SOURCES.map(source => stage.append(batchOf(value++, source))))
  }

  const isAllStored = () => database.rows.length >= value && new Set(database.rows).size === value
  const told = () => `${value} rows, ${database.rows.length} are there`

  beforeEach(() => { value = 0 })

  it('share the sources, and each batch is stored once', async () => {
    const { it: stage } = await pipeline.openStage()
    const members = await Promise.all(['in-1', 'in-2', 'in-3'].map(reader => openMember(reader)))
    const shared = () => members.reduce((sum, member) => sum + member.has(), 0)
    await until(() => members.every(member => member.has() > 0) && shared() === SOURCES.length)
    await produce(stage, 10)
    await until(isAllStored, told)
    expect(database.rows.length).to.equal(value)
    const seen = members.flatMap(member => [...member.seen])
    expect(seen.sort()).to.deep.equal([...SOURCES].sort())
    await until(() => stage.spool.next() === null)
  })

  it('take over what one leaves, though its flow has kept what came; and give up what another takes over', async () => {
    const { it: stage } = await pipeline.openStage()
    /** @type {import('../pipeline.js').Delivery[]} */
    const kept = []
    const stuck = await openMember('in-1', delivery => { kept.push(delivery) })
    await until(() => stuck.has() === SOURCES.length)
    await produce(stage, 2) // of which a member holds no more than 50
    await until(() => kept.length === value, () => `${value} deliveries, ${kept.length} came`)
    const other = await openMember('in-2')
    await until(() => other.has() > 0 && stuck.has() + other.has() === SOURCES.length)
    await until(() => stuck.consumer.state.held === 2 * stuck.has(), () => `${2 * stuck.has()} held, not ${stuck.consumer.state.held}`)
    await until(() => database.rows.length === 2 * other.has(), () => `${2 * other.has()} rows, not ${database.rows.length}`)
    await Promise.all(kept.map(delivery => database.write(delivery.batch))) // late, and in part no longer its own
    await stuck.close()
    await produce(stage, 3)
    await until(isAllStored, told)
    expect(database.rows.length).to.equal(value)
    expect(database.duplicates).to.be.greaterThan(0)
  })
})
