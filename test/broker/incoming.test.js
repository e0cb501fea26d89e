import { createServer } from 'node:net'
import { expect } from 'chai'
import mqttPacket from 'mqtt-packet'
import { connect } from '../../broker/connection/connection.js'
import { Incoming } from '../../broker/in/incoming.js'
import { connected, open } from '../../broker/preflight/probing.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { freePort, waitForPort } from '../servers/ports.js'
import { settled, until } from './waiting.js'

/** @typedef {import('../../broker/in/deferred-acks.js').Acknowledged} Acknowledged */
/** @typedef {import('../../broker/in/publish-reader.js').Publish} Publish */

const MESSAGES = 5000
const LIMIT = 100
const MESSAGE_BYTES = 2000 // more than sockets take of all of them
const NEVER_MS = 2 ** 30

/** @param {number} id */
const publish = id => mqttPacket.generate({
  cmd: 'publish', topic: 'plant/a', payload: Buffer.alloc(MESSAGE_BYTES, `${id} `), qos: 1, messageId: id, retain: false, dup: false
})

/** A broker that knows no window: on each connection it sends all that is not acknowledged, at once. */
async function startFlooding () {
  /** @type {Set<number>} */
  const unacknowledged = new Set(Array.from({ length: MESSAGES }, (_, n) => n + 1))
  /** @type {number[]} */
  const pubacks = []
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const counts = { pings: 0, connections: 0, disconnects: 0 }
  const server = createServer(socket => {
    const parser = mqttPacket.parser({ protocolVersion: 4 })
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', bytes => parser.parse(bytes))
    parser.on('packet', packet => {
      if (packet.cmd === 'connect') {
        counts.connections++
        const connack = mqttPacket.generate({ cmd: 'connack', returnCode: 0, sessionPresent: true })
        socket.write(Buffer.concat([connack, ...[...unacknowledged].map(publish)]))
      } else if (packet.cmd === 'puback') {
        pubacks.push(Number(packet.messageId))
        unacknowledged.delete(Number(packet.messageId))
      } else if (packet.cmd === 'pingreq') {
        counts.pings++
        socket.write(mqttPacket.generate({ cmd: 'pingresp' }))
      } else {
        counts.disconnects++
        socket.end()
      }
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return {
    url: `mqtt://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`,
    unacknowledged,
    pubacks,
    counts,
    /** @param {Buffer} bytes */
    send (bytes) { for (const socket of sockets) socket.write(bytes) },
    drop () { for (const socket of sockets) socket.destroy() },
    async stop () {
      this.drop()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

/**
 * @param {import('../../broker/connection/connection.js').BrokerOptions} options
 * @param {Partial<import('../../broker/in/incoming.js').IncomingOptions>} limits
 */
async function receive (options, limits = {}) {
  /** @type {{packet: Publish, held: Acknowledged}[]} */
  const arrived = []
  const incoming = new Incoming({
    maxMessages: LIMIT, maxBytes: 2 ** 30, onPublish: (packet, held) => { arrived.push({ packet, held }) }, ...limits
  })
  const connection = connect(options, { clientId: 'sink', clean: false, sessionExpirySeconds: 60, read: incoming.read })
  await connected(connection)
  return { arrived, incoming, connection, ids: () => arrived.map(({ packet }) => packet.messageId) }
}

describe('incoming messages, of a broker that knows no window', () => {
  /** @type {Awaited<ReturnType<typeof startFlooding>>} */
  let broker
  /** @type {Awaited<ReturnType<typeof receive>>} */
  let receiver

  /** @param {{keepAliveSeconds?: number} & Partial<import('../../broker/in/incoming.js').IncomingOptions>} [options] */
  async function flood ({ keepAliveSeconds, ...limits } = {}) {
    receiver = await receive({ url: broker.url, protocolVersion: '3.1.1', keepAliveSeconds }, limits)
    await until(() => receiver.arrived.length > 0)
    return receiver
  }

  /** As each comes, up to a number of them. @param {number} count */
  async function acknowledge (count) {
    for (let n = 0; n < count; n++) {
      await until(() => receiver.arrived.length > n)
      receiver.arrived[n].held.ack()
    }
  }

  beforeEach(async () => { broker = await startFlooding() })

  afterEach(async () => {
    receiver.incoming.close()
    await receiver.connection.close({ patienceMs: 100 })
    await broker.stop()
  })

  it('are never more than may wait, and all come in the end, in order', async () => {
    const { arrived, ids } = await flood()
    expect(await settled(() => arrived.length)).to.equal(LIMIT)
    await acknowledge(10)
    expect(await settled(() => arrived.length)).to.equal(LIMIT + 10)
    let most = 0
    for (let n = 10; n < MESSAGES; n++) {
      await until(() => arrived.length > n)
      most = Math.max(most, arrived.length - n)
      arrived[n].held.ack()
    }
    expect(most).to.be.at.most(LIMIT)
    await until(() => broker.unacknowledged.size === 0)
    const all = Array.from({ length: MESSAGES }, (_, n) => n + 1)
    expect(ids()).to.deep.equal(all)
    expect(broker.pubacks).to.deep.equal(all)
  })

  it('are no more bytes than may wait, but for the last message', async () => {
    const { arrived } = await flood({ maxBytes: 10.5 * MESSAGE_BYTES })
    expect(await settled(() => arrived.length)).to.equal(11)
    await acknowledge(5)
    expect(await settled(() => arrived.length)).to.equal(16)
  })

  it('come again where the connection ends while it is not read', async () => {
    const { arrived } = await flood()
    await acknowledge(10)
    await until(() => broker.unacknowledged.size === MESSAGES - 10 && arrived.length === LIMIT + 10)
    broker.drop()
    let acknowledged = 0
    await until(() => { // what is written finds the connection gone, though nothing reads it
      while (acknowledged < arrived.length) arrived[acknowledged++].held.ack()
      return broker.unacknowledged.size === 0
    })
    expect(broker.counts.connections).to.be.at.least(2)
  })

  it('do not keep a connection open that is closed while it is not read', async () => {
    const { arrived, incoming, connection } = await flood()
    expect(await settled(() => arrived.length)).to.equal(LIMIT)
    incoming.close()
    await connection.close({ patienceMs: NEVER_MS })
    await until(() => broker.counts.disconnects === 1)
    expect(arrived).to.have.lengthOf(LIMIT)
    expect(broker.pubacks).to.have.lengthOf(0)
  })

  it('leave the connection alive while the answer to a ping is behind what is not read', async function () {
    this.timeout(30_000)
    const { arrived } = await flood({ keepAliveSeconds: 1 })
    await until(() => broker.counts.pings >= 4 || broker.counts.connections > 1)
    expect(broker.counts.connections).to.equal(1)
    expect(arrived).to.have.lengthOf(LIMIT)
  })

  it('end the connection where they are malformed, and are read again on the next', async () => {
    const { arrived, connection } = await flood({ maxMessages: 2 * MESSAGES })
    await until(() => arrived.length === MESSAGES)
    broker.send(Buffer.from([0x32, 3, 0, 9, 0x61]))
    await until(() => arrived.length === 2 * MESSAGES)
    expect(broker.counts.connections).to.equal(2)
    expect(connection.client.connected).to.equal(true)
  })
})

describe('a connection that is lost in silence', () => {
  it('is found lost where nothing has been held back', async function () {
    this.timeout(30_000)
    let connections = 0
    const server = createServer(socket => {
      connections++
      socket.on('error', () => {})
      socket.once('data', () => socket.write(mqttPacket.generate({ cmd: 'connack', returnCode: 0, sessionPresent: false })))
    })
    await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const { connection } = await receive({ url: `mqtt://127.0.0.1:${port}`, protocolVersion: '3.1.1', keepAliveSeconds: 1 })
    await until(() => connections === 2)
    await connection.close({ patienceMs: 0 })
    server.close()
  })
})

describe('incoming messages, with Mosquitto', () => {
  before(function () { requireMosquitto(this) })

  /**
   * Over a connection of each kind.
   * @param {import('../../broker/connection/connection.js').BrokerOptions} options
   */
  async function expectMessages (options) {
    const { arrived, incoming, connection } = await receive(options)
    /** @type {string[]} */
    const heard = []
    connection.client.on('message', (topic, payload) => { heard.push(`${topic} ${payload}`) })
    await connection.client.subscribeAsync('t/#', { qos: 1 })
    const publisher = await open(options, { clientId: 'publisher' })
    await publisher.client.publishAsync('t/a', '1', { qos: 1 })
    await publisher.client.publishAsync('t/b', 'x'.repeat(100_000), { qos: 0 })
    await publisher.client.publishAsync('t/c', '3', { qos: 1 })
    await until(() => arrived.length === 3)
    expect(arrived.map(({ packet: { topic, qos } }) => `${topic} ${qos}`)).to.deep.equal(['t/a 1', 't/b 0', 't/c 1'])
    expect(heard.map(text => text.length)).to.deep.equal([5, 100_004, 5])
    incoming.close()
    await connection.close()
    await publisher.close()
  }

  for (const protocolVersion of /** @type {const} */ (['5', '3.1.1'])) {
    it(`come over TCP, MQTT ${protocolVersion}`, async () => {
      const broker = await startMosquitto()
      await expectMessages({ url: broker.url, protocolVersion })
      await broker.stop()
    })

    it(`come over TLS, MQTT ${protocolVersion}`, async () => {
      const broker = await startMosquitto({ tls: true })
      await expectMessages({ url: broker.url, protocolVersion, ca: broker.certificates?.ca })
      await broker.stop()
    })

    it(`come over websockets, MQTT ${protocolVersion}`, async () => {
      const port = await freePort()
      const broker = await startMosquitto({ conf: [`listener ${port} 127.0.0.1`, 'protocol websockets'] })
      await waitForPort(port)
      await expectMessages({ url: `ws://127.0.0.1:${port}/`, protocolVersion })
      await broker.stop()
    })
  }
})
