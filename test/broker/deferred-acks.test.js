import { expect } from 'chai'
import { deferAcks } from '../../broker/in/deferred-acks.js'
import { connect } from '../../broker/connection/connection.js'
import { connected, open } from '../../broker/preflight/probing.js'
import { brokers } from './brokers.js'
import { settled, until } from './waiting.js'

/** @typedef {import('mqtt').IPublishPacket} PublishPacket */

const session = { clientId: 'sink', clean: false, sessionExpirySeconds: 60, receiveMaximum: 10 }

/** Packet ids of the PUBACKs a client writes, in order. @param {import('mqtt').MqttClient} client */
function watchPubacks (client) {
  /** @type {number[]} */
  const ids = []
  const { stream } = client
  const write = stream.write.bind(stream)
  stream.write = (/** @type {any[]} */ ...args) => {
    const bytes = Buffer.from(args[0])
    for (let i = 0; bytes[i] === 0x40; i += 4) ids.push(bytes.readUInt16BE(i + 2))
    return Reflect.apply(write, stream, args)
  }
  return ids
}

for (const { name, protocolVersion, require, start } of brokers) {
  describe(`deferred acknowledgements, with ${name}`, () => {
    /** @type {Awaited<ReturnType<start>>} */
    let broker
    /** @type {import('../../broker/connection/connection.js').Connection} */
    let publisher
    /** @type {import('../../broker/connection/connection.js').Connection} */
    let sink
    /** @type {{packet: PublishPacket, ack: () => void}[]} */
    let arrived
    /** @type {{readonly pending: number}} */
    let deferred

    const publish = (/** @type {number} */ count, /** @type {0|1} */ qos = 1) => Promise.all(
      Array.from({ length: count }, (_, n) => publisher.client.publishAsync('t/data', String(n), { qos })))
    const payloads = () => arrived.map(({ packet }) => Number(packet.payload))

    before(function () { require(this) })

    beforeEach(async () => {
      broker = await start()
      publisher = await open({ url: broker.url, protocolVersion }, { clientId: 'publisher' })
      sink = connect({ url: broker.url, protocolVersion }, session)
      arrived = []
      deferred = deferAcks(sink.client, (packet, ack) => arrived.push({ packet, ack }))
      await connected(sink)
      await sink.client.subscribeAsync('t/#', { qos: 1 })
    })

    afterEach(async () => {
      await sink.close()
      await publisher.close()
      await broker.stop()
    })

    it('has many messages in hand, and gets more when it acknowledges some', async () => {
      await publish(1500)
      const window = await settled(() => arrived.length)
      expect(window).to.be.within(10, 1499)
      if (protocolVersion === '5') expect(window).to.equal(session.receiveMaximum)
      expect(deferred.pending).to.equal(window)

      for (let n = 0; n < 1500; n++) {
        await until(() => arrived.length > n)
        arrived[n].ack()
      }
      expect(payloads()).to.deep.equal(Array.from({ length: 1500 }, (_, n) => n))
      await until(() => deferred.pending === 0)
    })

    it('acknowledges in the order of arrival, whatever the order of commits, and each once', async () => {
      const pubacks = watchPubacks(sink.client)
      await publish(6)
      await until(() => arrived.length === 6)
      for (const n of [5, 3, 3, 1]) arrived[n].ack()
      expect(await settled(() => pubacks.length)).to.equal(0)
      arrived[0].ack()
      arrived[2].ack()
      arrived[2].ack()
      await until(() => pubacks.length === 4)
      arrived[4].ack()
      await until(() => pubacks.length === 6)
      expect(pubacks).to.deep.equal(arrived.map(({ packet }) => packet.messageId))
      expect(await settled(() => pubacks.length)).to.equal(6)
    })

    it('never sends an acknowledgement on a later connection', async () => {
      await publish(5)
      await until(() => arrived.length === 5)
      const old = arrived.splice(0)
      sink.client.stream.destroy()
      await until(() => arrived.length === 5)
      expect(arrived.map(({ packet }) => packet.dup)).to.deep.equal([true, true, true, true, true])
      expect(payloads()).to.deep.equal([0, 1, 2, 3, 4])

      const pubacks = watchPubacks(sink.client)
      for (const { ack } of old) ack()
      expect(await settled(() => pubacks.length)).to.equal(0)
      expect(deferred.pending).to.equal(5)
      for (const { ack } of arrived) ack()
      await until(() => pubacks.length === 5)
    })

    it('has nothing to acknowledge of a QoS 0 message', async () => {
      const pubacks = watchPubacks(sink.client)
      await publish(3, 0)
      await until(() => arrived.length === 3)
      for (const { ack } of arrived) ack()
      expect(await settled(() => pubacks.length)).to.equal(0)
      expect(deferred.pending).to.equal(0)
    })

    it('rests on this of MQTT.js: an error from handleMessage means no PUBACK, no `error` event, and on to the next message', async () => {
      /** @type {string[]} */
      const sent = []
      /** @type {Error[]} */
      const errors = []
      let handled = 0
      sink.client.handleMessage = (_packet, callback) => {
        handled++
        callback(new Error('no PUBACK'))
      }
      sink.client.on('packetsend', ({ cmd }) => { sent.push(cmd) })
      sink.client.on('error', error => { errors.push(error) })
      await publish(5)
      await until(() => handled === 5)
      expect(sent).to.not.include('puback')
      expect(errors).to.deep.equal([])
      expect(sink.client.stream.write, 'client.stream is what packets are written to').to.be.a('function')
    })
  })
}
