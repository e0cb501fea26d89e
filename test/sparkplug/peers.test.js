import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { toBatches } from '../../gateway/messages/payload.js'
import { encodeRebirthCommand } from '../../gateway/sparkplug/codec.js'
import { openEdge } from '../../gateway/sparkplug/edge-link.js'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'
import { ALL_TOPICS, topicOf } from '../../gateway/sparkplug/topic.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePython, startPython } from '../servers/python.js'

const NOON_MS = 1_700_000_000_000
const NOON_NS = BigInt(NOON_MS) * 1_000_000n
const silent = { info () {}, warn () {}, error () {} }

describe('Sparkplug with pysparkplug, over Mosquitto', function () {
  this.timeout(30_000)

  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {string} */
  let folder
  /** @type {(() => unknown)[]} what a test has started */
  let stops = []

  before(async function () {
    requirePython(this)
    requireMosquitto(this)
    mosquitto = await startMosquitto()
    folder = await mkdtemp(join(tmpdir(), 'sluice-sparkplug-'))
  })
  after(async () => {
    await mosquitto?.stop()
    if (folder) await rm(folder, { recursive: true })
  })
  afterEach(async () => {
    for (const stop of stops.reverse()) await stop()
    stops = []
  })

  /** A peer whose lines of output are awaited one by one. @param {string} script */
  function peer (script) {
    const child = startPython(script, [String(mosquitto.port)])
    let complaints = ''
    child.stderr.on('data', text => { complaints += text })
    stops.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    return {
      say: (/** @type {unknown} */ command) => child.stdin.write(`${JSON.stringify(command)}\n`),
      kill: () => child.kill('SIGKILL'),
      async line () {
        const { value, done } = await lines.next()
        if (done) throw new Error(`${script} ended:\n${complaints}`)
        return value
      }
    }
  }

  /** Our host on a connection: what it makes of each message. */
  async function listen () {
    const client = await mqtt.connectAsync(mosquitto.url)
    stops.push(() => client.endAsync(true))
    const host = new SparkplugHost({
      requestRebirth: (groupId, nodeId) => { client.publish(topicOf({ type: 'NCMD', groupId, nodeId }), encodeRebirthCommand(NOON_NS)) }
    })
    /** @type {any[]} */
    const received = []
    let wake = () => {}
    client.on('message', (topic, payload) => {
      received.push({ type: topic.split('/')[2], ...host.receive(topic, payload) })
      wake()
    })
    await client.subscribeAsync(ALL_TOPICS, { qos: 1 })
    /** The next message of a type. @param {string} type */
    const next = async type => {
      for (;;) {
        while (received.length > 0) {
          const message = received.shift()
          if (message.type === type) return message
        }
        await new Promise(resolve => { wake = () => resolve(undefined) })
      }
    }
    return { host, next, client }
  }

  describe('its edge node', () => {
    it('sends values of every data type', async () => {
      const { next } = await listen()
      peer('sparkplug_edge.py')
      const { batches: [node] } = await next('NBIRTH')
      expect(node).to.include({ source: 'plant.cell' })
      expect(node.toObjects()).to.deep.equal([{ time: NOON_NS, load: 0.25 }])

      const { batches: [press], refused } = await next('DBIRTH')
      expect(refused).to.deep.equal([])
      expect(press).to.deep.include({ source: 'plant.cell.press', tags: { group: 'plant', node: 'cell', device: 'press' } })
      const [row] = press.toObjects()
      const both = (/** @type {string} */ name, /** @type {unknown[]} */ ...values) => Object.fromEntries(values.map(
        (value, i) => [`all/${name}[${i}]`, value]
      ))
      expect(row).to.deep.equal({
        time: NOON_NS,
        'all/INT8': -100, 'all/INT16': -30_000, 'all/INT32': -2_000_000_000, 'all/INT64': -(2n ** 63n),
        'all/UINT8': 200, 'all/UINT16': 60_000, 'all/UINT32': 4_000_000_000n, 'all/UINT64': 2n ** 63n - 1n,
        'all/FLOAT': 0.5, 'all/DOUBLE': 1e-300, 'all/BOOLEAN': true, 'all/STRING': 'grün', 'all/TEXT': 'text',
        'all/DATETIME': BigInt(NOON_MS), 'all/UUID': '7c9b1f2e-6a83-4a3b-9a38-111111111111', 'all/BYTES': Uint8Array.of(0, 255),
        'all/FILE': Uint8Array.from(Buffer.from('file')),
        ...both('INT8_ARRAY', -1, 2), ...both('INT16_ARRAY', -300, 300), ...both('INT32_ARRAY', -70_000, 70_000),
        ...both('INT64_ARRAY', -(2n ** 63n), 1n),
        ...both('UINT8_ARRAY', 0, 255), ...both('UINT16_ARRAY', 0, 65_535), ...both('UINT32_ARRAY', 0n, 2n ** 32n - 1n),
        ...both('UINT64_ARRAY', 0n, 2n ** 63n - 1n),
        ...both('FLOAT_ARRAY', 0.5, -0.5), ...both('DOUBLE_ARRAY', 0.1, -0.1),
        ...both('BOOLEAN_ARRAY', false, false, true, true, false, true, false, false, true, true, false, true),
        ...both('STRING_ARRAY', 'ABC', 'grün'), ...both('DATETIME_ARRAY', BigInt(NOON_MS))
      })
      const typeOf = (/** @type {string} */ type) => press.fields.find((/** @type {{name: string}} */ { name }) => name === `all/${type}`)
      expect(typeOf('FLOAT').type).to.equal('float32')
      expect(typeOf('DATETIME')).to.include({ type: 'int64', unit: 'ms' })
    })

    it('sends data by alias, history, nulls and deaths', async () => {
      const { next } = await listen()
      const edge = peer('sparkplug_edge.py')
      await next('DBIRTH')

      edge.say({ double: 1.5, ms: NOON_MS + 1 })
      expect((await next('DDATA')).batches[0].toObjects()).to.deep.equal([{ time: NOON_NS + 1_000_000n, 'all/DOUBLE': 1.5 }])
      edge.say({ historical: 2.5, ms: NOON_MS - 1000 })
      expect((await next('DDATA')).batches[0].tags).to.deep.include({ historical: 'true' })
      edge.say({ null: true, ms: NOON_MS + 2 })
      expect((await next('DDATA')).batches[0].toObjects()).to.deep.equal([{ time: NOON_NS + 2_000_000n, quality: 'null' }])

      edge.say({ deregister: true })
      const { batches: [gone] } = await next('DDEATH')
      expect(gone.value(gone.fields.findIndex((/** @type {{name: string}} */ { name }) => name === 'quality'), 0)).to.equal('offline')
      expect(gone.fields).to.have.length.above(40)

      edge.kill()
      const { batches } = await next('NDEATH')
      const deaths = batches.map((/** @type {any} */ batch) => [batch.source, batch.toObjects()[0].quality])
      expect(deaths).to.deep.equal([['plant.cell', 'offline']])
    })

    it('publishes its births on request after a gap and for a later host', async () => {
      const earlier = await listen()
      const edge = peer('sparkplug_edge.py')
      expect(await edge.line()).to.equal('online')
      await earlier.next('DBIRTH') // or the first host might hear it, too
      await earlier.client.endAsync(true)
      const first = await listen()
      edge.say({ load: 0.5, ms: NOON_MS + 1 })
      const { refused: [early] } = await first.next('NDATA')
      expect(early.reason).to.equal('its node is not born: a rebirth was requested')
      expect(await edge.line()).to.equal('reborn')
      await first.next('DBIRTH')

      edge.say({ load: 0.75, ms: NOON_MS + 2 })
      edge.say({ skip: 3 })
      edge.say({ load: 1, ms: NOON_MS + 3 })
      await first.next('NDATA')
      const { batches: [late], refused } = await first.next('NDATA')
      expect(late.toObjects()[0].load).to.equal(1)
      expect(refused).to.deep.equal([])
      expect(first.host.counters.gaps).to.equal(1)
      expect(await edge.line()).to.equal('reborn')
    })
  })

  describe('its host', () => {
    /** @param {object} [more] */
    async function open (more) {
      const edge = await openEdge({
        broker: { url: mosquitto.url },
        clientId: 'sluice-edge',
        groupId: 'plant',
        nodeId: 'gateway',
        bdSeqFile: join(folder, 'bdseq'),
        log: silent,
        ...more
      })
      stops.push(() => edge.close())
      return edge
    }

    /** @param {unknown} payload @param {string} [topic] */
    const batchOf = (payload, topic = 'press') => toBatches({ payload, topic }).batches[0]

    /** @param {ReturnType<typeof peer>} host @param {string} type */
    async function told (host, type) {
      for (;;) {
        const message = JSON.parse(await host.line())
        if (message.type === type) return message
      }
    }

    async function start () {
      const host = peer('sparkplug_host.py')
      expect(await host.line()).to.equal('listening')
      return host
    }

    it('understands births, data and death', async () => {
      const host = await start()
      const edge = await open()
      const birth = await told(host, 'NBIRTH')
      expect(birth.seq).to.equal(0)
      expect(birth.metrics.map((/** @type {any} */ { name, type }) => [name, type])).to.deep.equal([
        ['bdSeq', 'INT64'],
        ['Node Control/Rebirth', 'BOOLEAN']
      ])

      const values = { speed: 1.5, count: 2n ** 60n, on: true, text: 'grün', raw: Buffer.from([0, 255]), low: -(2n ** 63n) }
      edge.take(batchOf([{ time: NOON_MS, ...values }, { time: NOON_MS + 1, speed: -2 }]))
      const device = await told(host, 'DBIRTH')
      expect(device).to.include({ seq: 1, device: 'press' })
      expect(device.metrics.map((/** @type {any} */ { name, type, value, ms }) => [name, type, value, ms])).to.deep.equal([
        ['speed', 'DOUBLE', 1.5, NOON_MS], ['count', 'INT64', String(2n ** 60n), NOON_MS], ['on', 'BOOLEAN', true, NOON_MS],
        ['text', 'STRING', 'grün', NOON_MS], ['raw', 'BYTES', '00ff', NOON_MS], ['low', 'INT64', String(-(2n ** 63n)), NOON_MS]
      ])
      const data = await told(host, 'DDATA')
      expect(data.seq).to.equal(2)
      expect(data.metrics).to.deep.equal([{
        name: 'speed',
        alias: 0,
        type: 'DOUBLE',
        value: -2,
        ms: NOON_MS + 1,
        null: false,
        historical: false
      }])

      await edge.close()
      expect((await told(host, 'NDEATH')).metrics[0]).to.include({ name: 'bdSeq', value: birth.metrics[0].value })
    })

    it('receives births again on request', async () => {
      const host = await start()
      const edge = await open()
      await told(host, 'NBIRTH')
      edge.take(batchOf({ speed: 1.5 }))
      await told(host, 'DBIRTH')
      host.say(['plant', 'gateway'])
      expect((await told(host, 'NBIRTH')).seq).to.equal(0)
      expect((await told(host, 'DBIRTH')).metrics[0]).to.include({ name: 'speed', value: 1.5 })
    })

    it('receives what was held while the connection was broken as history in a new session', async () => {
      const { next } = await listen()
      const cable = await layCable(mosquitto.port)
      stops.push(() => cable.cut())
      const edge = await open({ broker: { url: `mqtt://127.0.0.1:${cable.port}` } })
      const sessionOf = async () => Number(await readFile(join(folder, 'bdseq'), 'utf8'))
      await next('NBIRTH')
      const before = await sessionOf()
      edge.take(batchOf({ time: NOON_MS, speed: 1 }))
      await next('DBIRTH')

      await cable.cut()
      expect((await next('NDEATH')).batches.map((/** @type {any} */ { source }) => source)).to.deep.equal(['plant.gateway.press'])
      while (edge.state.connected) await new Promise(resolve => setImmediate(resolve))
      edge.take(batchOf({ time: NOON_MS + 1, speed: 2 }))
      edge.take(batchOf({ time: NOON_MS + 2, speed: 3 }))
      expect(edge.state.heldValues).to.equal(2)

      await cable.mend()
      expect((await next('DBIRTH')).batches[0].toObjects()).to.deep.equal([{ time: NOON_NS + 2_000_000n, speed: 3 }])
      for (const speed of [2, 3]) {
        const { batches: [history] } = await next('DDATA')
        expect(history.tags).to.include({ historical: 'true' })
        expect(history.toObjects()[0].speed).to.equal(speed)
      }
      expect(await sessionOf()).to.be.above(before)
      expect(edge.state).to.include({ heldValues: 0, droppedValues: 0, historical: 2 })
    })

    it('receives the node\'s death from the broker when its process is killed', async () => {
      const host = await start()
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL('./edge-process.js', import.meta.url)), mosquitto.url, join(folder, 'killed')],
        { stdio: 'ignore' }
      )
      stops.push(() => child.kill('SIGKILL'))
      const birth = await told(host, 'NBIRTH')
      child.kill('SIGKILL')
      expect((await told(host, 'NDEATH')).metrics[0]).to.include({ name: 'bdSeq', value: birth.metrics[0].value })
    })

    it('makes the node wait, hold and continue as its primary host', async () => {
      const { next, client } = await listen()
      const state = (/** @type {boolean} */ online, /** @type {number} */ timestamp) => client.publishAsync(
        'spBv1.0/STATE/scada',
        JSON.stringify({ online, timestamp }),
        { qos: 1, retain: true }
      )
      stops.push(() => client.publishAsync('spBv1.0/STATE/scada', '', { retain: true }))
      const edge = await open({ primaryHostId: 'scada' })
      while (!edge.state.waitsForHost) await new Promise(resolve => setImmediate(resolve))
      edge.take(batchOf({ time: NOON_MS, speed: 1 }))

      await state(true, 2)
      await next('NBIRTH')
      const { batches: [history] } = await next('DDATA')
      expect(history.tags).to.include({ historical: 'true' })

      await state(false, 1) // an old one
      await state(false, 3)
      await next('NDEATH')
      await state(true, 4)
      await next('NBIRTH')
    })
  })
})

/** A way to a port that can be cut and mended. @param {number} to */
async function layCable (to) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const server = createServer(near => {
    const far = connect(to, '127.0.0.1')
    near.pipe(far).pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    port,
    async cut () {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
    async mend () {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    }
  }
}
