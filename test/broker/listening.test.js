import { createServer } from 'node:net'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { listenToMqtt } from '../../broker/listening/mqtt.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { freePort } from '../servers/ports.js'

describe('listening to a broker for a while', function () {
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {mqtt.MqttClient} */
  let publisher
  /** @type {import('../../broker/listening/listening.js').Listening} */
  let listening

  before(async function () {
    requireMosquitto(this)
    mosquitto = await startMosquitto({ conf: ['sys_interval 1'] })
    publisher = await mqtt.connectAsync(mosquitto.url)
  })
  after(async () => {
    await publisher?.endAsync(true)
    await mosquitto?.stop()
  })
  afterEach(() => listening?.close())

  /** @param {string[]} filters @param {number} [durationMs] */
  async function listen (filters, durationMs) {
    listening = listenToMqtt({ url: mosquitto.url }, filters, { durationMs })
    await until(() => listening.state.state === 'listening')
  }

  const topics = () => listening.messages.map(({ topic }) => topic)

  it('keeps the newest message of each topic, by topic', async () => {
    await listen(['plant/+/state'])
    for (const [topic, payload] of [['plant/b/state', '1'], ['plant/a/state', '2'], ['plant/b/state', '3']]) {
      await publisher.publishAsync(topic, payload, { qos: 1 })
    }
    await until(() => listening.state.messages >= 3)
    expect(listening.messages.map(({ topic, payload }) => `${topic} ${payload}`)).to.deep.equal(['plant/a/state 2', 'plant/b/state 3'])
  })

  it('keeps a few neighbours, so that what does not match is seen, too', async () => {
    await listen(['plant/+/state'])
    for (const topic of ['plant/a/alarm', 'yard/a/state', 'plant/a/state']) await publisher.publishAsync(topic, '1', { qos: 1 })
    await until(() => topics().includes('plant/a/state'))
    expect(topics()).to.deep.equal(['plant/a/alarm', 'plant/a/state'])
  })

  it('hears all there is where it has no filter, but nothing of the broker\'s own or of ours', async () => {
    const heard = await mqtt.connectAsync(mosquitto.url)
    await heard.subscribeAsync('$SYS/#')
    await new Promise(resolve => heard.once('message', resolve))
    await heard.endAsync(true)
    await listen([])
    for (const topic of ['sluice/v2/g/data/s', 'any/thing']) await publisher.publishAsync(topic, '1', { qos: 1 })
    await until(() => topics().length > 0)
    expect(topics()).to.deep.equal(['any/thing'])
  })

  it('is bounded: in topics, in neighbours, and in the bytes of a message', async () => {
    await listen(['many/+'])
    await publisher.publishAsync('many/long', Buffer.alloc(65_537), { qos: 1 })
    for (let i = 0; i < 100; i++) publisher.publish(`many/${i}/other`, '1')
    for (let i = 0; i < 300; i++) publisher.publish(`many/${i}`, '1')
    await publisher.publishAsync('many/long', Buffer.alloc(65_537), { qos: 1 })
    await until(() => topics().filter(topic => !topic.endsWith('/other')).length >= 200 && listening.state.messages >= 352)
    expect(topics()).to.have.length(250)
    expect(listening.messages.find(({ topic }) => topic === 'many/long')).to.deep.include({ bytes: 65_537, payload: Buffer.alloc(0) })
  })

  it('takes nothing from those who share a subscription', async () => {
    const worker = await mqtt.connectAsync(mosquitto.url, { protocolVersion: 5 })
    await worker.subscribeAsync('$share/workers/jobs/#', { qos: 1 })
    let worked = 0
    worker.on('message', () => worked++)
    await listen(['$share/workers/jobs/#'])
    for (let i = 0; i < 20; i++) await publisher.publishAsync(`jobs/${i}`, '1', { qos: 1 })
    await until(() => worked === 20 && listening.state.topics === 20)
    await worker.endAsync(true)
  })

  it('ends by itself and by being closed, with the client gone and what it heard kept', async () => {
    const broker = await startEmbeddedBroker({ port: await freePort() })
    const options = { url: `mqtt://127.0.0.1:${broker.port}` }
    try {
      for (const durationMs of [1, 60_000]) {
        const other = listenToMqtt(options, ['x'], { durationMs })
        await until(() => other.state.state !== 'connecting')
        if (durationMs > 1) await other.close()
        else await other.ended
        expect(other.state).to.include({ state: 'ended', remainingMs: 0 })
        expect(other.problem).to.equal(null)
        await until(() => broker.stats().clients === 0)
      }
    } finally {
      await broker.close()
    }
  })

  it('says why a broker cannot be listened to', async () => {
    const nowhere = listenToMqtt({ url: `mqtt://127.0.0.1:${await freePort()}` }, ['x'])
    await nowhere.ended
    expect(nowhere.problem).to.include({ code: 'SLUICE_BROKER_REFUSED' })
  })

  describe('a broker that answers no SUBSCRIBE', () => {
    /** @type {import('node:net').Server} */
    let silent
    /** @type {Set<import('node:net').Socket>} */
    const sockets = new Set()
    let subscribes = 0

    before(async () => {
      silent = createServer(socket => {
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
        socket.on('data', ([type]) => {
          if (type >> 4 === 1) socket.write(Buffer.from([0x20, 3, 0, 0, 0])) // CONNACK: accepted, no properties
          else if (type >> 4 === 8) subscribes++
        })
      })
      await new Promise(resolve => silent.listen(0, '127.0.0.1', () => resolve(undefined)))
    })
    after(() => new Promise(resolve => silent.close(resolve)))

    /** Until the broker has been asked. */
    async function ask () {
      subscribes = 0
      const { port } = /** @type {import('node:net').AddressInfo} */ (silent.address())
      listening = listenToMqtt({ url: `mqtt://127.0.0.1:${port}` }, ['x'])
      await until(() => subscribes > 0)
    }

    it('is left when the listening is closed', async () => {
      await ask()
      await listening.close()
      expect(listening.problem).to.equal(null)
      await until(() => sockets.size === 0)
    })

    it('is left by itself, and the problem said', async () => {
      await ask()
      await listening.ended
      expect(listening.problem).to.include({ code: 'SLUICE_BROKER_UNREACHABLE' })
      await until(() => sockets.size === 0)
    })
  })
})

/** @param {() => boolean} condition */
async function until (condition) {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 10))
}
