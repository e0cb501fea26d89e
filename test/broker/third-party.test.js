import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { Incoming } from '../../broker/in/incoming.js'
import { Receipts } from '../../broker/in/receipts.js'
import { Subscriptions } from '../../broker/in/subscriptions.js'
import { ThirdPartyConsumer } from '../../broker/in/third-party.js'
import { connected, open } from '../../broker/preflight/probing.js'
import { brokers } from './brokers.js'
import { until } from './waiting.js'

const silent = { info () {}, warn () {}, error () {} }

for (const { name, protocolVersion, require, start } of brokers) {
  describe(`third-party messages, with ${name}`, () => {
    /** @type {Awaited<ReturnType<start>>} */
    let broker
    /** @type {import('../../broker/connection/connection.js').Connection} */
    let publisher
    /** @type {Receipts} */
    let receipts
    /** @type {string} */
    let folder
    /** @type {(() => Promise<void>)[]} */
    let closing

    before(function () { require(this) })

    beforeEach(async () => {
      broker = await start()
      publisher = await open({ url: broker.url, protocolVersion }, { clientId: 'publisher' })
      folder = await mkdtemp(join(tmpdir(), 'sluice-third-party-'))
      receipts = await Receipts.open(join(folder, 'receipts'), new Map())
      closing = []
    })

    afterEach(async () => {
      for (const close of closing) await close()
      await publisher.close()
      await broker.stop()
      await receipts.close()
      await rm(folder, { recursive: true })
    })

    /** @param {Partial<import('../../broker/in/third-party.js').ThirdPartyOptions> & {topics?: string[]}} options */
    async function consume ({ topics = ['plant/#'], ...options }) {
      const subscriptions = await remember(topics)
      const incoming = new Incoming({
        maxMessages: 1000, maxBytes: 2 ** 24, onPublish: (packet, held) => consumer.receive(packet, held)
      })
      const connection = connect({ url: broker.url, protocolVersion }, {
        clientId: 'third-party', clean: false, sessionExpirySeconds: 60, read: incoming.read
      })
      /** @type {string[]} */
      const kept = []
      const consumer = new ThirdPartyConsumer({
        client: connection.client,
        subscriptions,
        keep: (packet, held) => {
          if (!receipts.of(packet)) {
            receipts.kept(receipts.note(packet, 1, held))
            kept.push(`${packet.topic} ${packet.payload}`)
          }
          held.ack()
        },
        onNewSession: () => receipts.newSession(),
        log: silent,
        ...options
      })
      await connected(connection)
      await until(() => consumer.missing.length === 0)
      const close = async () => {
        incoming.close()
        consumer.close()
        await connection.close({ patienceMs: 100 })
      }
      closing.push(close)
      return { consumer, kept, close }
    }

    const remember = (/** @type {string[]} */ topics) => Subscriptions.open(join(folder, 'filters'), topics)

    /** Deploys, and goes; what comes then waits. @param {string[]} topics */
    async function deploy (...topics) {
      const { close } = await consume({ topics, keep () {} })
      await close()
    }

    /** All that is kept with these filters. @param {string[]} topics */
    async function keptWith (...topics) {
      const { kept } = await consume({ topics: [...topics, 'end'] })
      await publish('end', 0)
      await until(() => kept.includes('end 0'))
      return kept.slice(0, -1)
    }

    const publish = (/** @type {string} */ topic, /** @type {unknown} */ payload, /** @type {0|1} */ qos = 1) => {
      return publisher.client.publishAsync(topic, String(payload), { qos })
    }

    it('are accepted by the filters; our own topics are not, nor what an earlier deploy has subscribed to', async () => {
      const earlier = await consume({ topics: ['#'] })
      await earlier.close()
      const { kept } = await consume({ topics: ['plant/+/temperature'] })
      await publish('sluice/v2/gw/data/press', 1)
      await publish('plant/hall/pressure', 1013)
      await publish('plant/hall/temperature', 21)
      await publish('plant/tank/temperature', 22)
      await until(() => kept.includes('plant/tank/temperature 22'))
      expect(kept).to.deep.equal(['plant/hall/temperature 21', 'plant/tank/temperature 22'])
    })

    it('are accepted once where filters overlap', async () => {
      const { kept } = await consume({ topics: ['plant/+/temperature', 'plant/#', '+/hall/#'] })
      for (const value of [1, 2, 3]) await publish('plant/hall/temperature', value)
      await publish('plant/hall', 4)
      await publish('plant/end', 5)
      await until(() => kept.includes('plant/end 5'))
      const temperatures = [1, 2, 3].map(value => `plant/hall/temperature ${value}`)
      expect(kept).to.deep.equal([...temperatures, 'plant/hall 4', 'plant/end 5'])
    })

    it('come again where they were not kept before the consumer went', async () => {
      const stuck = await consume({ keep () {} })
      await publish('plant/hall', 21)
      await until(() => stuck.consumer.counters.received === 1)
      await stuck.close()
      const { kept } = await consume({})
      await until(() => kept.length === 1)
      expect(kept).to.deep.equal(['plant/hall 21'])
    })

    it('that the broker retains are taken once, not at each deploy', async () => {
      await publisher.client.publishAsync('plant/hall', '20', { qos: 1, retain: true })
      const first = await consume({})
      await until(() => first.kept.length === 1)
      await first.close()
      const second = await consume({})
      await publisher.client.publishAsync('plant/hall', '21', { qos: 1, retain: true })
      await until(() => second.kept.length > 0)
      expect([...first.kept, ...second.kept]).to.deep.equal(['plant/hall 20', 'plant/hall 21'])
    })

    it('that the broker retains come again, too, where they were not kept', async () => {
      await publisher.client.publishAsync('plant/hall', '20', { qos: 1, retain: true })
      const stuck = await consume({ keep () {} })
      await until(() => stuck.consumer.counters.received === 1)
      await stuck.close()
      const { kept } = await consume({})
      await until(() => kept.length > 0)
      expect(kept).to.deep.equal(['plant/hall 20'])
    })

    it('that the broker retains are taken also by a filter that is added later', async () => {
      await publisher.client.publishAsync('plant/hall', '20', { qos: 1, retain: true })
      await publisher.client.publishAsync('depot/door', '1', { qos: 1, retain: true })
      const first = await consume({})
      await until(() => first.kept.length === 1)
      await first.close()
      const second = await consume({ topics: ['plant/#', 'depot/#'] })
      await until(() => second.kept.length > 0)
      expect([...first.kept, ...second.kept]).to.deep.equal(['plant/hall 20', 'depot/door 1'])
    })

    it('that wait in the broker while their filter is edited are kept, once', async () => {
      await deploy('plant/+/+')
      for (const value of [1, 2, 3]) await publish('plant/hall/temperature', value)
      expect(await keptWith('plant/#')).to.deep.equal([1, 2, 3].map(value => `plant/hall/temperature ${value}`))
    })

    it('that wait there while it is edited again and again are kept, once', async () => {
      await deploy('plant/+/temperature')
      await publish('plant/hall/temperature', 1)
      await deploy('plant/+/temperature', 'plant/#')
      await publish('plant/hall/temperature', 2)
      await deploy('plant/#')
      await publish('plant/hall/temperature', 3)
      await deploy('plant/hall/+', 'plant/#')
      await publish('plant/hall/temperature', 4)
      const kept = await keptWith('plant/+/temperature', 'plant/hall/+')
      expect(kept).to.deep.equal([1, 2, 3, 4].map(value => `plant/hall/temperature ${value}`))
    })

    it('that wait there while overlapping filters are edited are kept, once', async () => {
      await deploy('plant/+/temperature', 'plant/#', '+/hall/#')
      await publish('plant/hall/temperature', 1)
      await publish('plant/hall/pressure', 2)
      expect(await keptWith('plant/hall/+')).to.deep.equal(['plant/hall/temperature 1', 'plant/hall/pressure 2'])
    })

    it('that wait there are left alone where the filter for their topic is removed', async () => {
      await deploy('plant/+', 'depot/+')
      await publish('depot/door', 1)
      await publish('plant/hall', 2)
      expect(await keptWith('plant/#')).to.deep.equal(['plant/hall 2'])
    })

    it('are kept, once, where the gateway was killed before it could tell the broker of an edited filter', async () => {
      await deploy('plant/+', 'plant/#')
      await remember(['plant/hall'])
      await publish('plant/hall', 1)
      expect(await keptWith('+/hall')).to.deep.equal(['plant/hall 1'])
    })

    it('come no more for a filter that is gone', async () => {
      await deploy('plant/#')
      await deploy('depot/#')
      await publish('plant/hall', 1)
      expect(await keptWith('plant/#', 'depot/#')).to.deep.equal([])
    })

    it('that nobody would send again are dropped and counted, once too many wait', async () => {
      let told = 0
      const { consumer } = await consume({ maxPending: 5, keep () {}, onDropped: () => { told++ } })
      for (let i = 0; i < 8; i++) await publish('plant/hall', i, 0)
      await until(() => consumer.counters.received === 8)
      expect([consumer.counters.dropped, told]).to.deep.equal([3, 3])
    })

    it('that nobody would send again are dropped and counted, once those that wait are too large together', async () => {
      /** @type {(() => void)[]} */
      const waiting = []
      const { consumer } = await consume({ maxPendingBytes: 25, keep: (_, held) => { waiting.push(() => held.ack()) } })
      for (let i = 0; i < 4; i++) await publish('plant/hall', '0123456789', 0)
      await until(() => consumer.counters.received === 4)
      expect(consumer.counters.dropped).to.equal(1)
      waiting[0]()
      await publish('plant/hall', '0123456789', 0)
      await until(() => consumer.counters.received === 5)
      expect(consumer.counters.dropped).to.equal(1)
    })
  })
}
