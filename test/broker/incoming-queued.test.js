import { expect } from 'chai'
import { connect } from '../../broker/connection/connection.js'
import { Incoming } from '../../broker/in/incoming.js'
import { connected } from '../../broker/preflight/probing.js'
import { RawPublisher, encodePublish } from '../../gateway/bench/telegraf/raw-publisher.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { until } from './waiting.js'

/** @typedef {import('../../broker/in/deferred-acks.js').Acknowledged} Acknowledged */

/** More than there are packet ids. */
const QUEUED = 200_000
const WINDOW = 50

describe('Messages that have queued up in a session of Mosquitto', function () {
  this.timeout(120_000)

  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let broker

  before(async function () {
    requireMosquitto(this)
    broker = await startMosquitto({ conf: ['max_inflight_messages 0'] })
  })

  after(() => broker?.stop())

  for (const protocolVersion of /** @type {const} */ (['5', '3.1.1'])) {
    it(`come all, once and in order, and never more of them than the window, over MQTT ${protocolVersion}`, async () => {
      const receive = async (/** @type {import('../../broker/in/incoming.js').IncomingOptions['onPublish']} */ onPublish) => {
        const incoming = new Incoming({ maxMessages: WINDOW, maxBytes: 2 ** 20, onPublish })
        const session = { clientId: `queue-${protocolVersion}`, clean: false, sessionExpirySeconds: 60, receiveMaximum: WINDOW }
        const connection = connect({ url: broker.url, protocolVersion }, { ...session, read: incoming.read })
        await connected(connection)
        return { connection, incoming }
      }
      const first = await receive(() => {})
      await first.connection.client.subscribeAsync('plant/#', { qos: 1 })
      await first.connection.close()
      const packets = Array.from({ length: QUEUED }, (_, n) => encodePublish({ topic: 'plant/hall', payload: String(n) }, n))
      const publisher = new RawPublisher({ host: '127.0.0.1', port: broker.port, clientId: 'publisher', packets, window: 1000 })
      await publisher.connected()
      await publisher.publish()

      /** @type {{id: number, held: Acknowledged}[]} */
      let waiting = []
      let most = 0
      let received = 0
      let inOrder = 0
      let sameIds = 0
      const second = await receive(({ payload, messageId: id }, held) => {
        if (Number(payload) === received++) inOrder++
        waiting.push({ id, held })
        most = Math.max(most, waiting.length)
        if (waiting.length > 1) return
        setImmediate(() => {
          if (new Set(waiting.map(({ id: each }) => each)).size < waiting.length) sameIds++
          const all = waiting
          waiting = []
          for (const { held: each } of all) each.ack()
        })
      })
      await until(() => received === QUEUED)
      expect({ most, inOrder, sameIds }).to.deep.equal({ most: WINDOW, inOrder: QUEUED, sameIds: 0 })
      second.incoming.close()
      await second.connection.close()
    })
  }
})
