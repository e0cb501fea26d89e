import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { retryWhile } from '../../gateway/base/backoff.js'
import { TransactionalProducer } from '../../gateway/kafka/producer.js'
import { until } from '../broker/waiting.js'
import { KafkaUnderTest } from './kafka.js'

describe('A member of a Kafka consumer group', function () {
  this.timeout(120_000)
  const kafka = KafkaUnderTest.inSuite()
  let count = 0
  /** Names of their own for each test. @type {string} */
  let topic
  /** @type {string} */
  let group

  beforeEach(() => {
    topic = `topic-${++count}`
    group = `group-${count}`
  })

  it('gets what is in all partitions, in order, with keys, headers and times', async () => {
    await kafka.create(topic, 3)
    for (const partition of [0, 1, 2]) await kafka.produce(topic, [`${partition}a`, `${partition}b`], { partition })
    const headers = new Map([[Buffer.from('h'), Buffer.from('v')]])
    await kafka.produce(topic, [{ key: Buffer.from('k'), value: null, headers, timestamp: 7n }])
    /** @type {any[]} */
    const messages = []
    const member = kafka.member({ group, topics: [topic], onRecords: (_, its) => { messages.push(...its) } })
    await until(() => member.got.length === 7)
    for (const partition of [0, 1, 2]) {
      const its = member.got.filter(({ stream }) => stream.partition === partition)
      expect(its.slice(0, 2).map(({ value, offset }) => [value, offset])).to.deep.equal([[`${partition}a`, 0n], [`${partition}b`, 1n]])
    }
    const { key, timestamp, offset, ...rest } = messages.find(({ value }) => value === null)
    expect({ key: String(key), value: rest.value, headers: rest.headers.flat().map(String), timestamp, offset })
      .to.deep.equal({ key: 'k', value: null, headers: ['h', 'v'], timestamp: 7n, offset: 2n })
    expect(member.problems).to.deep.equal([])
  })

  it('reads what was compressed, in each way', async () => {
    await kafka.create(topic)
    const ways = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
    for (const compression of ways) await kafka.produce(topic, [compression.repeat(1000), compression], { compression })
    const member = kafka.member({ group, topics: [topic] })
    await until(() => member.got.length === 10)
    expect(member.values).to.deep.equal(ways.flatMap(way => [way.repeat(1000), way]))
  })

  it('goes on where the group has committed, and begins where it is told to', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, [0, 1, 2, 3])
    const first = kafka.member({ group, topics: [topic] })
    await until(() => first.got.length === 4)
    await first.close()
    await kafka.produce(topic, [4])
    const second = kafka.member({ group, topics: [topic] })
    await until(() => second.got.length === 1)
    expect(second.values).to.deep.equal(['4'])
    expect(second.told).to.deep.equal([`assigned ${topic}/0 at 4`])
    await second.close()
    const third = kafka.member({ group, topics: [topic], onAssigned: async its => its.map(() => ({ offset: 2n })) })
    await until(() => third.got.length === 3)
    expect(third.values).to.deep.equal(['2', '3', '4'])
  })

  it('shares partitions with others: what moves is given up first, and nothing comes twice or not at all', async () => {
    await kafka.create(topic, 4)
    const first = kafka.member({ group, topics: [topic] })
    await until(() => first.assigned.length === 4)
    const second = kafka.member({ group, topics: [topic] })
    const all = []
    for (let i = 0; i < 40 || second.assigned.length < 2; i++) {
      all.push(String(i))
      await kafka.produce(topic, [i], { partition: i % 4 })
    }
    await until(() => first.got.length + second.got.length >= all.length)
    expect([...first.values, ...second.values].sort()).to.deep.equal(all.sort())
    expect(first.told.filter(text => text.startsWith('revoked'))).to.have.length(2)
    expect(first.told.filter(text => text.startsWith('lost'))).to.deep.equal([])
    await first.close()
    await until(() => second.assigned.length === 4)
  })

  it('goes on as long as it takes to deal with what it got, and remains a member', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, [0, 1])
    /** @type {() => void} */
    let goOn = () => {}
    const slow = kafka.member({ group, topics: [topic], onRecords: () => new Promise(resolve => { goOn = () => resolve() }) })
    const idle = kafka.member({ group, topics: [topic] })
    await until(() => slow.assigned.length + idle.assigned.length === 1)
    await sleep(5000) // longer than a session
    if (slow.assigned.length === 1) {
      expect(slow.told).to.deep.equal([`assigned ${topic}/0 at first`])
      goOn()
      await until(() => slow.got.length === 2)
    } else expect(idle.values).to.deep.equal(['0', '1'])
  })

  it('delivers nothing more, and begins anew, when the group has taken it for dead', async () => {
    await kafka.create(topic)
    const member = kafka.member({ group, topics: [topic] })
    await kafka.produce(topic, [0])
    await until(() => member.got.length === 1)
    const [{ stream }] = member.got
    await kafka.committedAt(group, topic, 1n)
    await kafka.admin.removeMembersFromConsumerGroup({ groupId: group })
    await until(() => member.told.length === 3)
    expect(member.told).to.deep.equal([`assigned ${topic}/0 at first`, `lost ${topic}/0`, `assigned ${topic}/0 at 1`])
    await kafka.produce(topic, [1])
    await until(() => member.got.length === 2)
    expect(member.got[1].stream).not.to.equal(stream)
  })

  it('goes on after the broker was killed', async () => {
    await kafka.create(topic)
    const member = kafka.member({ group, topics: [topic], sessionMs: 20_000 })
    await kafka.produce(topic, [0])
    await until(() => member.got.length === 1)
    await kafka.server.kill()
    await until(() => member.problems.length > 0)
    await kafka.server.start()
    await kafka.produce(topic, [1])
    await until(() => member.got.length === 2 && member.problems.at(-1) === null)
    expect(member.values).to.deep.equal(['0', '1'])
  })

  it('waits for a topic that comes later, and takes one that is created again for another', async () => {
    const member = kafka.member({ group, topics: [topic] })
    await kafka.create(topic)
    await kafka.produce(topic, [0, 1])
    await until(() => member.got.length === 2)
    await kafka.committedAt(group, topic, 2n)
    await kafka.remove(topic)
    await kafka.create(topic, 2)
    await kafka.produce(topic, ['new'])
    await kafka.produce(topic, ['more'], { partition: 1 })
    await until(() => member.got.length === 4)
    const [before, , after] = member.got
    expect(after).to.include({ offset: 0n }).and.to.have.nested.property('stream.topicId').that.is.not.equal(before.stream.topicId)
    expect(member.told).to.include.members([`lost ${topic}/0`, `assigned ${topic}/1 at first`])
    expect(member.told.filter(text => text === `assigned ${topic}/0 at first`)).to.have.length(2)
  })

  it('hears of topics that match a pattern, and of partitions that are added', async () => {
    const member = kafka.member({ group, topics: new RegExp(`^${topic}-.`) })
    for (const name of [`${topic}-a`, `${topic}-b`, topic]) {
      await kafka.create(name)
      await kafka.produce(name, [name])
    }
    await until(() => member.got.length === 2)
    await kafka.admin.createPartitions({ topics: [{ name: `${topic}-a`, count: 2, assignments: [{ brokerIds: [1] }] }] })
    await kafka.produce(`${topic}-a`, ['added'], { partition: 1 })
    await until(() => member.got.length === 3)
    expect(member.values.sort()).to.deep.equal(['added', `${topic}-a`, `${topic}-b`])
  })

  it('says what was deleted before it was read', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, [0, 1, 2, 3])
    await kafka.deleteBefore(topic, 3n)
    const member = kafka.member({ group, topics: [topic], onAssigned: async its => its.map(() => ({ offset: 1n })) })
    await until(() => member.got.length === 1)
    expect(member.values).to.deep.equal(['3'])
    expect(member.told).to.include(`gap ${topic}/0 1 to 3`)
  })

  it('sees nothing of transactions that were undone, and goes on behind them', async () => {
    await kafka.create(topic)
    const client = kafka.cluster.client()
    const producer = new TransactionalProducer(client, group, 'none')
    const write = async (/** @type {string} */ value, /** @type {boolean} */ isCommitted) => {
      await producer.send([{ topic, partition: 0, key: Buffer.from('k'), value: Buffer.from(value), headers: new Map() }])
      await producer.end(isCommitted)
    }
    await retryWhile(() => true, () => producer.open(), () => {})
    await write('undone', false)
    await write('done', true)
    await write('undone, too', false)
    /** @type {bigint[]} */
    const reached = []
    const member = kafka.member({ group, topics: [topic], onRecords: (_stream, _messages, next) => { reached.push(next) } })
    await until(() => reached.at(-1) === 6n)
    expect(member.values).to.deep.equal(['done'])
    await client.close()
  })

  it('reads a log again from where it has lost its end', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, [0, 1])
    const member = kafka.member({ group, topics: [topic], sessionMs: 20_000 })
    await until(() => member.got.length === 2)
    await kafka.server.stop()
    const before = await kafka.keep(topic)
    await kafka.server.start()
    await kafka.produce(topic, [2, 3, 4])
    await until(() => member.got.length === 5)
    await kafka.server.stop()
    await before.restore()
    await kafka.server.start()
    await kafka.produce(topic, ['2 of another kind', '3 of another kind'])
    await until(() => member.got.length === 7)
    expect(member.values.slice(5)).to.deep.equal(['2 of another kind', '3 of another kind'])
    expect(member.got[6].offset).to.equal(3n)
    expect(member.told.slice(1)).to.deep.equal([`lost ${topic}/0`, `assigned ${topic}/0 at 2`])
  })

  it('asks again where it is not told where to begin, or fails at dealing with records', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, [0])
    let failures = 0
    const fail = async () => {
      if (failures++ % 2 === 0) throw new Error('not now')
    }
    const member = kafka.member({ group, topics: [topic], onAssigned: fail, onRecords: fail })
    await until(() => member.got.length === 1)
    expect(failures).to.equal(4)
    expect(member.problems.map(problem => problem?.message)).to.deep.equal(['not now', undefined, 'not now', undefined])
  })
})
