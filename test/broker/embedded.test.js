import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { deferAcks } from '../../broker/in/deferred-acks.js'
import { schema, startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { Users } from '../../broker/embedded/users.js'
import { open } from '../../broker/preflight/probing.js'
import { settled, until } from './waiting.js'

/** @typedef {import('../../broker/connection/connection.js').Connection} Connection */

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

/** What the process holds when all is quiet, in buffers and objects. */
async function heldBytes () {
  for (let pass = 0; pass < 3; pass++) {
    collectGarbage()
    await sleep(50)
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

describe('embedded broker', () => {
  /** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */
  let broker
  /** @type {Connection[]} */
  let connections
  /** @type {string[]} */
  let warnings

  const log = {
    info () {},
    warn: (/** @type {string} */ text) => { warnings.push(text) },
    error: (/** @type {string} */ text) => { throw new Error(text) }
  }

  const begin = async (/** @type {Parameters<typeof startEmbeddedBroker>[0]} */ options = {}) => {
    broker = await startEmbeddedBroker({ port: 0, ...options }, { log })
  }

  const client = async (/** @type {string} */ clientId, clean = true) => {
    const connection = await open({ url: `mqtt://127.0.0.1:${broker.port}` }, { clientId, clean })
    connections.push(connection)
    return connection.client
  }

  /** A client that counts what it gets. @param {string} clientId @param {{clean?: boolean, qos?: 0|1, topic?: string}} [options] */
  const counter = async (clientId, { clean = true, qos = 1, topic = 't/#' } = {}) => {
    const subscriber = await client(clientId, clean)
    /** @type {string[]} */
    const got = []
    subscriber.on('message', (_topic, payload) => got.push(payload.subarray(0, 20).toString()))
    await subscriber.subscribeAsync(topic, { qos })
    return { subscriber, got }
  }

  beforeEach(() => {
    connections = []
    warnings = []
  })

  afterEach(async () => {
    for (const connection of connections) await connection.close({ patienceMs: 500 })
    await broker.close()
  })

  it('has a title, a description and a default for each option', () => {
    for (const option of Object.values(schema.properties)) expect(option).to.include.all.keys('title', 'description', 'default')
    return begin()
  })

  it('says that its port is taken', async () => {
    await begin()
    const error = await startEmbeddedBroker({ port: broker.port }).catch(reason => reason)
    expect(error.code).to.equal('SLUICE_BROKER_PORT')
    expect(error.message).to.contain(`cannot listen on 127.0.0.1:${broker.port}`).and.contain('give the embedded broker another port')
  })

  it('delivers at the lower of the two levels, to sessions of both kinds, once', async () => {
    await begin()
    /** @type {[string, boolean, 0|1][]} */
    const kinds = [['clean 0', true, 0], ['clean 1', true, 1], ['kept 0', false, 0], ['kept 1', false, 1]]
    const counters = await Promise.all(kinds.map(([id, clean, qos]) => counter(id, { clean, qos })))
    /** @type {number[][]} */
    const levels = counters.map(() => [])
    counters.forEach(({ subscriber }, i) => subscriber.on('message', (_topic, _payload, { qos }) => levels[i].push(qos)))
    const publisher = await client('publisher')
    await publisher.publishAsync('t/a', '0', { qos: 0 })
    await publisher.publishAsync('t/a', '1', { qos: 1 })
    await until(() => counters.every(({ got }) => got.length === 2))
    expect(counters.map(({ got }) => got)).to.deep.equal([['0', '1'], ['0', '1'], ['0', '1'], ['0', '1']])
    expect(levels).to.deep.equal([[0, 0], [0, 1], [0, 0], [0, 1]])
    expect(await settled(() => counters.flatMap(({ got }) => got).length)).to.equal(8)
  })

  it('loses nothing when retained, QoS 0 and QoS 1 messages overtake each other', async () => {
    await begin()
    const counters = [await counter('clean', { qos: 0 }), await counter('kept', { clean: false })]
    const publisher = await client('publisher')
    for (let n = 0; n < 300; n++) publisher.publish('t/a', String(n), { qos: n % 2 ? 1 : 0, retain: n % 3 === 0 })
    await until(() => counters.every(({ got }) => got.length >= 300))
    for (const { got } of counters) expect(new Set(got).size).to.equal(300)
  })

  it('gives the retained message to who comes late, the last one only', async () => {
    await begin()
    const publisher = await client('publisher')
    await publisher.publishAsync('t/head', 'old', { qos: 1, retain: true })
    await publisher.publishAsync('t/head', 'new', { qos: 1, retain: true })
    for (const clean of [true, false]) {
      const { got } = await counter(`late ${clean}`, { clean })
      await until(() => got.length > 0)
      expect(got).to.deep.equal(['new'])
    }
  })

  it('keeps messages for a session that is away, and ends the session when its client says so', async () => {
    await begin()
    const publisher = await client('publisher')
    const { subscriber } = await counter('sink', { clean: false })
    await subscriber.endAsync()
    for (let n = 0; n < 2000; n++) publisher.publish('t/a', String(n), { qos: 1 })
    await until(() => broker.stats().queuedMessages === 2000)
    const { got } = await counter('sink', { clean: false })
    await until(() => got.length === 2000)
    expect(got).to.deep.equal(Array.from({ length: 2000 }, (_, n) => String(n)))
    await until(() => broker.stats().queuedBytes === 0)

    await publisher.publishAsync('t/a', 'x', { qos: 1 })
    await client('sink', true)
    expect(broker.stats().queuedMessages).to.equal(0)
  })

  it('holds nobody back, and no more than its limit, for clients that do not read or acknowledge', async () => {
    const maxQueuedBytes = 4 * 2 ** 20
    await begin({ maxQueuedBytes })
    const lazy = await client('never acknowledges', false)
    deferAcks(lazy, () => {})
    await lazy.subscribeAsync('t/#', { qos: 1 })
    const deaf = (await counter('does not read', { clean: false })).subscriber
    const deafAtQos0 = (await counter('does not read QoS 0', { qos: 0 })).subscriber
    for (const { stream } of [deaf, deafAtQos0]) /** @type {import('node:net').Socket} */ (stream).pause()
    const away = (await counter('away', { clean: false })).subscriber
    await away.endAsync()
    const { got } = await counter('good', { clean: false })
    const publisher = await client('publisher')

    const payload = Buffer.alloc(20_000)
    let published = 0
    const publishMegabytes = async (/** @type {number} */ megabytes) => {
      for (let n = 0; n < megabytes; n++) {
        await Promise.all(Array.from({ length: 50 }, () => publisher.publishAsync('t/a', payload, { qos: 1 })))
      }
      published += megabytes * 50
      await until(() => got.length === published)
      return await heldBytes()
    }
    const early = await publishMegabytes(50)
    const late = await publishMegabytes(150)

    expect(late - early, 'growth while 150 MB were published').to.be.below(30e6)
    const { queuedBytes, droppedMessages } = broker.stats()
    expect(queuedBytes).to.be.below(3 * maxQueuedBytes + 1)
    expect(droppedMessages).to.be.above(30_000)
    expect(warnings).to.have.length(4)
    expect(warnings[0]).to.match(/the queue for client .+ is full/)
    for (const { stream } of [deaf, deafAtQos0]) stream.destroy()
  })

  it('lets a new connection of a client take over from the old', async () => {
    await begin()
    const first = await client('sink', false)
    deferAcks(first, () => {})
    await first.subscribeAsync('t/#', { qos: 1 })
    const publisher = await client('publisher')
    await publisher.publishAsync('t/a', 'x', { qos: 1 })
    first.options.reconnectPeriod = 0
    const { got } = await counter('sink', { clean: false })
    await until(() => got.length === 1)
    await until(() => broker.stats().queuedMessages === 0)
  })

  it('refuses to listen where other machines reach it, and nobody has to log in', async () => {
    await begin()
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      const error = await startEmbeddedBroker({ port: 0, host }).catch(reason => reason)
      expect(error.code).to.equal('SLUICE_BROKER_OPEN')
      expect(error.fix).to.contain('Enter users')
    }
    const far = await startEmbeddedBroker({ port: 0, host: '0.0.0.0', users: ['gw-a:gateway:a long password'] })
    await far.close()
  })

  it('says what is wrong with its users, and not their passwords', async () => {
    await begin()
    const wrong = [['my secret'], ['gw-a:admin:my secret'], ['gw-a:gateway:secret'], ['gw-a:gateway:my secret', 'gw-a:reader:my secret']]
    for (const users of wrong) {
      const error = await startEmbeddedBroker({ port: 0, users }).catch(reason => reason)
      expect(error.code).to.equal('SLUICE_BROKER_ACCOUNT')
      expect(error.message).not.to.contain('secret')
    }
  })

  it('keeps the sessions of its users apart, also of one client id', async () => {
    await begin({ users: ['a:other:password of a', 'b:other:password of b'], grants: ['a readwrite t/#', 'b read t/#'] })
    const as = async (/** @type {string} */ user) => {
      const options = { url: `mqtt://127.0.0.1:${broker.port}`, user, password: `password of ${user}` }
      const connection = await open(options, { clientId: 'same', clean: false })
      connections.push(connection)
      return connection.client
    }
    const [first, second] = [await as('a'), await as('b')]
    await first.subscribeAsync('t/#', { qos: 1 })
    const heard = new Promise(resolve => first.once('message', resolve))
    await first.publishAsync('t/x', 'x', { qos: 1 })
    expect(await heard).to.equal('t/x')
    expect([first.connected, second.connected]).to.deep.equal([true, true])
    expect(broker.stats().clients).to.equal(2)
  })

  it('slows down whoever guesses a password', async () => {
    await begin({ users: ['a:reader:password of a'] })
    const guess = async () => {
      const options = { url: `mqtt://127.0.0.1:${broker.port}`, user: 'a', password: 'wrong' }
      return open(options, { clientId: 'guessing' }).then(connection => connection.close(), reason => reason.code)
    }
    const outcomes = []
    while (outcomes.length < 20 && outcomes.at(-1) !== 'SLUICE_BROKER_BUSY') outcomes.push(await guess())
    expect(outcomes.slice(0, 5)).to.deep.equal(Array(5).fill('SLUICE_BROKER_AUTH'))
    expect(outcomes.at(-1)).to.equal('SLUICE_BROKER_BUSY')
  })

  it('forgot that a user has to wait once enough other names had failed from the same address', async () => {
    await begin()
    const users = new Users(['a:reader:password of a', 'b:reader:password of b'], [], () => 0)
    const outcome = (/** @type {string} */ name, /** @type {string} */ password, address = '192.0.2.1') => {
      return users.refusal(name, Buffer.from(password), address)?.returnCode ?? 'let in'
    }
    expect(Array.from({ length: 6 }, () => outcome('a', 'wrong'))).to.deep.equal([4, 4, 4, 4, 4, 3])
    const others = Array.from({ length: 1010 }, (_, n) => outcome(`nobody ${n}`, 'wrong'))
    expect(others.filter(code => code === 4)).to.have.length(5)
    expect(outcome('a', 'password of a')).to.equal(3)
    expect(outcome('b', 'password of b')).to.equal('let in')
    expect(outcome('a', 'password of a', '192.0.2.2')).to.equal('let in')
  })

  it('ends the connection of a client that sends more at once than it may, at the first bytes of it', async () => {
    await begin({ maxPacketBytes: 2 ** 20 })
    const publisher = await client('publisher')
    const { got } = await counter('other')
    const ended = new Promise(resolve => publisher.once('close', () => resolve(undefined)))
    publisher.options.reconnectPeriod = 0
    const socket = /** @type {import('node:net').Socket} */ (publisher.stream)
    socket.write(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x64])) // a PUBLISH of 200 MiB, of which nothing follows
    await ended
    await (await client('another')).publishAsync('t/a', Buffer.alloc(2 ** 20 - 100), { qos: 1 })
    await until(() => got.length === 1)
  })

  it('has no more clients than it may, sessions of those that are away included', async () => {
    await begin({ maxClients: 2 })
    const kept = await client('kept', false)
    const passing = await client('passing')
    const refused = () => client('third').then(() => 'let in', reason => reason.code)
    expect(await refused()).to.equal('SLUICE_BROKER_BUSY')
    await kept.endAsync()
    expect(await refused()).to.equal('SLUICE_BROKER_BUSY')
    await client('kept', false)
    await passing.endAsync()
    await until(() => broker.stats().clients === 1)
    expect(await refused()).to.equal('let in')
  })
  it('retained messages without end: now so many bytes for each user, passed on all the same', async () => {
    const users = ['a:other:password of a', 'b:other:password of b']
    await begin({ users, grants: ['a readwrite t/#', 'b readwrite t/#'], maxQueuedBytes: 2 ** 20 })
    const as = async (/** @type {string} */ user) => {
      const options = { url: `mqtt://127.0.0.1:${broker.port}`, user, password: `password of ${user}` }
      const connection = await open(options, { clientId: `client ${connections.length}`, clean: true })
      connections.push(connection)
      return connection.client
    }
    const [greedy, other] = [await as('a'), await as('b')]
    const topics = async (/** @type {Awaited<ReturnType<typeof as>>} */ subscriber) => {
      /** @type {string[]} */
      const got = []
      subscriber.on('message', topic => got.push(topic))
      await subscriber.subscribeAsync('t/#', { qos: 1 })
      return got
    }
    const early = await topics(await as('b'))
    for (let n = 0; n < 20; n++) {
      await greedy.publishAsync(`t/${n}`, Buffer.alloc(200_000), { qos: 1, retain: true })
      await until(() => early.length === n + 1)
    }
    await greedy.publishAsync('t/0', Buffer.alloc(900_000), { qos: 1, retain: true }) // that of before would be out of date
    await other.publishAsync('t/b', 'x', { qos: 1, retain: true })
    await until(() => early.length === 22)
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.match(/user a has as much retained as there is room for \(1048576 bytes\)/)
    const late = await topics(await as('b'))
    await until(() => late.length >= 5)
    expect(await settled(() => late.length)).to.equal(5)
    expect(late.sort()).to.deep.equal(['t/1', 't/2', 't/3', 't/4', 't/b'])

    for (let n = 1; n < 5; n++) await greedy.publishAsync(`t/${n}`, '', { qos: 1, retain: true })
    await greedy.publishAsync('t/0', Buffer.alloc(900_000), { qos: 1, retain: true })
    const afterwards = await topics(await as('b'))
    await until(() => afterwards.length === 2)
  })

  it('kept what a client sent at QoS 2 in memory until it released it', async () => {
    await begin()
    const { got } = await counter('other', { qos: 0 })
    const publisher = await client('publisher')
    const socket = /** @type {import('node:net').Socket} */ (publisher.stream)
    const before = await heldBytes()
    for (let id = 1; id <= 60; id++) {
      // A PUBLISH to "t/q" with 7 bytes before its payload of 1 MiB; its PUBREC is never answered.
      const header = Buffer.from([0x34, 0x87, 0x80, 0x40, 0, 3, ...Buffer.from('t/q'), 0, id])
      socket.write(Buffer.concat([header, Buffer.alloc(2 ** 20)]))
    }
    await until(() => got.length === 60)
    expect(await heldBytes() - before).to.be.below(20e6)
    socket.write(Buffer.from([0x3c, 8, 0, 3, ...Buffer.from('t/q'), 0, 60, 0x78]))
    await publisher.publishAsync('t/end', 'end', { qos: 1 })
    await until(() => got.includes('end'))
    expect(got, 'a repetition is known').to.have.length(61)
  })
  it('gave all its places to sockets that never log in', async () => {
    await begin({ maxClients: 2 })
    /** @type {import('node:net').Socket[]} */
    const idle = []
    try {
      const before = await client('before')
      for (let n = 0; n < 103; n++) {
        const socket = connect(broker.port, '127.0.0.1').on('error', () => {})
        idle.push(socket)
        await once(socket, 'connect')
      }
      await client('after')
      expect(before.connected).to.equal(true)
      await until(() => idle.every(socket => socket.closed)) // after a few seconds
      expect(broker.stats().clients).to.equal(2)
    } finally {
      for (const socket of idle) socket.destroy()
    }
  })
})
