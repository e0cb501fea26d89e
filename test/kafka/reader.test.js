import { expect } from 'chai'
import { fetchApi } from '../../gateway/kafka/fetch.js'
import { until } from '../broker/waiting.js'
import { KafkaUnderTest } from './kafka.js'

describe('A reader of a whole Kafka topic', function () {
  this.timeout(120_000)
  const kafka = KafkaUnderTest.inSuite()
  let count = 0
  /** @type {string} */
  let topic

  beforeEach(() => { topic = `topic-${++count}` })

  it('reads all partitions, says when it has, and goes on', async () => {
    await kafka.create(topic, 3)
    for (const partition of [0, 2]) await kafka.produce(topic, [`${partition}a`, `${partition}b`], { partition })
    const seen = kafka.reader({ topic })
    await until(() => seen.isRead)
    expect(seen.values.sort()).to.deep.equal(['0a', '0b', '2a', '2b'])
    await kafka.produce(topic, ['more'], { partition: 1 })
    await until(() => seen.values.includes('more'))
  })

  it('has read an empty topic at once, and waits for one that is missing', async () => {
    const seen = kafka.reader({ topic })
    await kafka.create(topic)
    await until(() => seen.isRead)
    await kafka.produce(topic, ['late'])
    await until(() => seen.values.length === 1)
  })

  it('asks for all partitions at once: the others were asked for when the first had something new, or after 15 s', async () => {
    await kafka.create(topic, 3)
    /** @type {number[][]} */
    const asked = []
    const client = kafka.cluster.client()
    const ask = client.ask.bind(client)
    client.ask = (api, node, ...args) => {
      if (api === fetchApi) asked.push(args[6][0].partitions.map((/** @type {{partition: number}} */ { partition }) => partition))
      return ask(api, node, ...args)
    }
    const seen = kafka.reader({ topic, paceMs: 1 }, { client: () => client })
    await until(() => asked.length > 0 && seen.isRead)
    expect(asked[0]).to.deep.equal([0, 1, 2])
  })

  it('leaves out what was there before it, where that is not wanted', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, ['before'])
    const seen = kafka.reader({ topic, isLate: true })
    await until(() => seen.isRead)
    await kafka.produce(topic, ['after'])
    await until(() => seen.values.length === 1)
    expect(seen.values).to.deep.equal(['after'])
  })

  it('reads a topic that was created again from its beginning', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, ['old'])
    const seen = kafka.reader({ topic })
    await until(() => seen.values.length === 1)
    await kafka.remove(topic)
    await until(() => seen.resets === 1)
    await kafka.create(topic, 2)
    await kafka.produce(topic, ['new'], { partition: 1 })
    await until(() => seen.values.length === 1)
    expect(seen.values).to.deep.equal(['new'])
  })

  it('has read a topic whose end has been compacted away', async () => {
    await kafka.create(topic, 1, {
      'cleanup.policy': 'compact', 'segment.ms': '100', 'min.cleanable.dirty.ratio': '0', 'delete.retention.ms': '0'
    })
    for (const value of ['1', '2', '3']) await kafka.produce(topic, [{ key: Buffer.from('k'), value: Buffer.from(value) }])
    const seen = kafka.reader({ topic })
    await until(() => seen.isRead)
    expect(seen.values.at(-1)).to.equal('3')
  })

  it('goes on after the broker was killed', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, ['before'])
    const seen = kafka.reader({ topic })
    await until(() => seen.isRead)
    await kafka.server.kill()
    await kafka.server.start()
    await kafka.produce(topic, ['after'])
    await until(() => seen.values.length === 2)
    expect(seen).to.deep.equal({ values: ['before', 'after'], resets: 0, isRead: true })
  })
})
