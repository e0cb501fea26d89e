import { expect } from 'chai'
import { Outgoing } from '../../../broker/kafka/outgoing.js'
import { KafkaUnderTest } from '../../kafka/kafka.js'
import { withClockAhead } from '../../kafka/wrong-clock.js'

describe('What is staged in Kafka', () => {
  const kafka = KafkaUnderTest.inSuite()

  it('is taken while the clock of the gateway is ahead of that of the brokers', async () => {
    await kafka.create('early')
    const client = kafka.cluster.client()
    const { promise: taken, resolve, reject } = Promise.withResolvers()
    const outgoing = new Outgoing(client, reject)
    try {
      outgoing.publish('early', 0, 'a key', Buffer.from('a batch'), resolve)
      await withClockAhead(() => taken)
    } finally {
      outgoing.close()
      await client.close()
    }
    expect(await kafka.endOf('early')).to.equal(1n)
  })
})
