import { expect } from 'chai'
import { until } from '../broker/waiting.js'
import { wired } from './member.js'
import { KafkaInUnderTest, numbers, rows } from './under-test.js'

describe('Where Kafka in begins', function () {
  this.timeout(60_000)
  const suite = KafkaInUnderTest.inSuite()
  const { kafka } = suite

  it('stores a record batch whole when an operator lets the group begin amidst of it', async () => {
    await kafka.create(suite.topic)
    await suite.produce(rows(0, 10))
    await suite.resetOffset(5n)
    const first = await suite.open()
    await until(() => suite.stored().length > 0)
    await suite.close(first)
    await suite.resetOffset(0n)
    await suite.open()
    await suite.produce(rows(10, 11))
    await until(() => suite.stored().includes(10))
    expect(suite.stored()).to.deep.equal(numbers(0, 11))
  })

  it('stores what an operator lets the group skip, and go back to, though the commit records around it have been merged', async () => {
    await kafka.create(suite.topic)
    const records = () => suite.query('a', 'SELECT seq, last FROM sluice_commits WHERE staged > 0 ORDER BY seq').map(Object.values)
    const mergedTo = async (/** @type {string} */ expected) => {
      const member = await suite.open(['a'], { compactMs: 20 })
      await until(() => String(records()) === expected)
      await suite.close(member)
    }
    for (const at of [0, 10]) await suite.produce(rows(at, at + 10))
    await mergedTo('0,10')
    for (const at of [20, 30, 40, 50]) await suite.produce(rows(at, at + 10))
    await suite.resetOffset(40n)
    await mergedTo('0,10,40,50')
    await suite.resetOffset(0n)
    await mergedTo('0,50')
    expect(suite.stored()).to.deep.equal(numbers(0, 60))
    await suite.produce(rows(60, 70))
    await mergedTo('0,60')
  })

  it('reads what came while nobody did, when it was to begin with new records and had none yet', async () => {
    await kafka.create(suite.topic)
    await suite.produce(rows(0, 10))
    const first = await suite.open(['a'], { begin: 'latest' })
    await kafka.committedAt(suite.group, suite.topic, 10n)
    await suite.close(first)
    await suite.produce(rows(10, 20))
    await suite.open(['a'], { begin: 'latest' })
    await suite.produce(rows(20, 21))
    await until(() => suite.stored().includes(20))
    expect(suite.stored()).to.deep.equal(numbers(10, 21))
  })

  it('reads a partition that was added from its first record, also when it was to begin with new ones', async () => {
    await kafka.create(suite.topic)
    await suite.open(['a'], { begin: 'latest' })
    await kafka.committedAt(suite.group, suite.topic, 0n)
    await kafka.admin.createPartitions({ topics: [{ name: suite.topic, count: 2, assignments: [{ brokerIds: [1] }] }] })
    await suite.produce(rows(0, 10), { partition: 1 })
    await until(() => suite.stored().length === 10)
  })

  it('gives a database that is set back while batches are on their way to it what it lacks', async () => {
    await kafka.create(suite.topic)
    for (const at of [0, 10, 20]) await suite.produce(rows(at, at + 10))
    const member = await suite.open()
    await until(() => suite.stored().length === 30)
    await kafka.committedAt(suite.group, suite.topic, 30n)
    suite.setBackTo(10)
    await suite.produce(rows(30, 40)) // is stored before all is read again
    await until(() => suite.stored().length >= 40)
    await suite.close(member)
    expect(suite.stored()).to.deep.equal(numbers(0, 40))
  })

  it('goes on with reading again after a database was set back, whoever goes on', async () => {
    await kafka.create(suite.topic)
    for (const at of [0, 10, 20]) await suite.produce(rows(at, at + 10))
    const first = await suite.open()
    await until(() => suite.stored().length === 30)
    await kafka.committedAt(suite.group, suite.topic, 30n)
    suite.setBackTo(10)
    await suite.produce(rows(30, 40))
    await until(() => suite.stored().includes(39))
    await suite.close(first)
    const second = await suite.open()
    await until(() => suite.stored().length >= 40)
    expect(suite.stored()).to.deep.equal(numbers(0, 40))
    expect(second.consumer.state.lost).to.equal(0)
  })

  it('takes no database for set back where another member has stored what this one does not know of yet', async () => {
    await kafka.create(suite.topic, 2)
    const first = await suite.open()
    const second = await suite.open()
    await until(() => first.consumer.state.partitions === 1 && second.consumer.state.partitions === 1)
    for (const partition of [0, 1]) await suite.produce(rows(10 * partition, 10 * partition + 10), { partition })
    await until(() => suite.stored().length === 20)
    await Promise.all([0, 1].map(partition => kafka.committedAt(suite.group, suite.topic, 10n, partition)))
    await suite.close(first)
    await until(() => second.consumer.state.partitions === 2)
    await Promise.all([0, 1].map(partition => suite.produce(rows(20 + partition, 21 + partition), { partition })))
    await until(() => suite.stored().length === 22)
    expect(second.logged).to.deep.equal([])
    expect(second.consumer.state.setBack).to.equal(0)
  })

  it('counts what a database that was set back lacks and the brokers no longer have', async () => {
    await kafka.create(suite.topic)
    for (const at of [0, 10, 20]) await suite.produce(rows(at, at + 10))
    const first = await suite.open()
    await until(() => suite.stored().length === 30)
    await kafka.committedAt(suite.group, suite.topic, 30n)
    await suite.close(first)
    suite.setBackTo(10)
    await kafka.deleteBefore(suite.topic, 20n)
    const second = await suite.open()
    await until(() => suite.stored().length >= 20)
    expect(suite.stored()).to.deep.equal([...numbers(0, 10), ...numbers(20, 30)])
    expect(second.consumer.state.lost).to.be.within(10, 19) // by offsets: how many records the newest batch has, it does not know
  })

  it('emits what was parked again at the next deploy, though the sinks are the same', async () => {
    await kafka.create(suite.topic)
    let isBroken = true
    const member = await suite.open(['a'], { overdueMs: 100, attempts: 1, isLost: () => isBroken })
    await suite.produce(rows(0, 10))
    await until(() => member.consumer.state.parked === 1)
    await suite.produce(rows(10, 20))
    isBroken = false
    member.consumer.wire(wired(['a']))
    await until(() => suite.stored().length === 20)
    await kafka.committedAt(suite.group, suite.topic, 20n)
  })
})
