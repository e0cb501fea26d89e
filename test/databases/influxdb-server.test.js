import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { open, isTransient } from '../../gateway/databases/influxdb/sink.js'
import { connect } from '../../gateway/databases/influxdb/connection.js'
import { missingInfluxdb, startInfluxdb } from '../servers/influxdb.js'
import { requireServer, suspend } from '../servers/programs.js'
import { batchOf, EPOCH, failureOf, identity, rangesOf, rowOf, T0 } from './contract/batches.js'

describe('InfluxDB server', () => {
  /** @type {import('../servers/influxdb.js').InfluxdbServer} */
  let server
  /** @type {{close: () => Promise<void>}[]} */
  let opened

  before(async function () {
    requireServer(this, 'influxdb', missingInfluxdb())
    server = await startInfluxdb({ udp: true })
  })

  after(() => server?.remove())

  beforeEach(() => { opened = [] })

  afterEach(async () => {
    for (const each of opened) await each.close()
  })

  /** @param {object} options */
  const connectTo = options => {
    const connected = connect({ port: server.port, user: server.user, password: server.password, database: 'plant', ...options })
    opened.push(connected)
    return connected
  }

  describe('the test of a connection', () => {
    it('reports what it finds', async () => {
      expect(await connectTo({}).test()).to.match(/^InfluxDB 1\.\d+\.\d+, database "plant", logged in as "sluice"\. It does not exist/)
      await (await open({}, { server: connectTo({}) })).committed()
      expect(await connectTo({}).test()).to.match(/logged in as "sluice"\.$/)
    })

    it('reports what is wrong, and what to do', async () => {
      for (const [options, text] of /** @type {[object, RegExp][]} */ ([
        [{ password: 'wrong' }, /authorization failed.*Check user and password/],
        [{ password: '' }, /asks for a password, and none is given.*Enter the password of the user/],
        [{ user: '' }, /username required.*Check user and password/],
        [{ host: 'no-such-host.invalid' }, /Check the host name/],
        [{ port: 1 }, /Check host and port/],
        [{ version: '2' }, /is InfluxDB 1.*Set version 1/],
        [{ tls: 'verify' }, /Check the port and whether the server expects TLS/]
      ])) {
        const error = await failureOf(() => connectTo(options).test())
        expect(error.message).to.match(text).and.not.to.include(server.password)
        expect(error).to.have.property('fix').that.is.a('string')
      }
    })
  })

  it('is reached through TLS, and verified', async () => {
    const secure = await startInfluxdb({ tls: true })
    try {
      const authority = await readFile(secure.ca, 'utf8')
      for (const options of [{ tls: 'require' }, { tls: 'verify', ca: secure.ca }, { tls: 'verify', ca: authority }]) {
        const connected = connectTo({ port: secure.port, ...options })
        await (await open({}, { server: connected })).write([batchOf([1])])
        expect(await connected.test()).to.match(/logged in as "sluice"\.$/)
      }
      for (const [options, text] of /** @type {[object, RegExp][]} */ ([
        [{ tls: 'verify' }, /Set the CA certificate/],
        [{ tls: 'off' }, /HTTP request to an HTTPS server.*switch it on/]
      ])) {
        const error = await failureOf(async () => (await open({}, { server: connectTo({ port: secure.port, ...options }) })).committed())
        expect(error.message).to.match(text)
        expect(isTransient(error)).to.equal(true)
      }
    } finally {
      await secure.remove()
    }
  })

  it('can be disconnected from while it does not answer', async () => {
    const stopped = await startInfluxdb()
    let resume = () => {}
    try {
      const connected = connect({ port: stopped.port, user: stopped.user, password: stopped.password, database: 'plant' })
      const sink = await open({}, { server: connected })
      await sink.write([batchOf([1], { identity: identity(0) })])
      resume = await suspend(stopped.pid)
      const write = failureOf(() => sink.write([batchOf([1], { identity: identity(1) })]))
      await sleep(50)
      await connected.close()
      expect((await write).message).to.match(/No connection/)
    } finally {
      resume()
      await stopped.remove()
    }
  })

  it('is waited for while its disk is full, and loses nothing when it is restarted', async function () {
    const disk = await mkdtemp(join(tmpdir(), 'sluice-full-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'pipe' })
    } catch {
      await rm(disk, { recursive: true })
      console.log('      skipped, a small disk: mounting a tmpfs needs root')
      return this.skip()
    }
    const small = await startInfluxdb({ dir: disk })
    try {
      const sink = await open({}, { server: connectTo({ port: small.port }) })
      const numbers = Array.from({ length: 5000 }, (_, i) => i)
      const batches = [0, 1].map(seq => batchOf(numbers.map(Math.sin), {
        time: BigInt64Array.from(numbers, i => T0 + BigInt(5000 * seq + i)), identity: identity(seq)
      }))
      await sink.write([batches[0]])
      const filler = join(disk, 'filler')
      for (let full = false; !full;) await appendFile(filler, Buffer.alloc(50_000)).catch(() => { full = true })
      const error = await failureOf(() => sink.write([batches[1]]))
      expect(error.message).to.match(/no space left on device.*start InfluxDB again/)
      expect(isTransient(error)).to.equal(true)
      await rm(filler)
      await small.stop()
      await small.start()
      expect((await sink.write(batches)).duplicates).to.deep.equal([batches[0]])
      expect((await small.query('SELECT count(force) FROM press', { db: 'plant' })).series[0].values[0][1]).to.equal(10_000)
    } finally {
      await small.stop()
      execFileSync('umount', ['-l', disk])
      await rm(disk, { recursive: true, force: true })
    }
  })

  describe('by UDP', () => {
    /** @param {object} options  of the server @param {object} [more]  of the sink */
    const openUdp = async (options, more = {}) => {
      /** @type {string[]} */
      const said = []
      const log = {
        info: (/** @type {string} */ text) => said.push(text),
        warn: (/** @type {string} */ text) => said.push(`warning: ${text}`),
        error: () => {}
      }
      const connected = connectTo({ database: server.udpDatabase, udpPort: server.udpPort, ...options })
      const sink = await open({ protocol: 'udp', ...more }, { server: connected, log })
      return { sink, said }
    }

    it('sends samples, and counts what has arrived', async () => {
      const { sink, said } = await openUdp({})
      await sink.write([batchOf(Array.from({ length: 5000 }, (_, i) => i), { identity: identity(0) })])
      expect(rangesOf(await sink.committed()), 'which says that it was sent').to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
      await sink.close()
      expect(said).to.have.length(1)
      const [, lost] = /of 5000 values sent to measurement "press", (\d+) are missing/.exec(said[0]) ?? []
      const { series } = await server.query('SELECT count(force) FROM press', { db: server.udpDatabase })
      expect(series[0].values[0][1]).to.equal(5000 - Number(lost))
    })

    it('reports what is lost', async () => {
      const { sink, said } = await openUdp({ udpPort: 9 }, { table: 'nowhere', layout: 'narrow' })
      await sink.write([rowOf({ a: ['float64', 1], b: ['string', 'x'], c: ['float64', NaN], d: ['int16', undefined] })])
      await sink.close()
      expect(said).to.deep.equal(['warning: UDP: of 2 values sent to measurement "nowhere", 2 are missing (100.00 %).'])
      expect(sink.notice?.()).to.equal('may lose: 2 of 2 values missing')
    })

    it('fills datagrams with whole lines, up to their size', async () => {
      const listener = createSocket('udp4').bind(0, '127.0.0.1')
      await once(listener, 'listening')
      /** @type {Buffer[]} */
      const datagrams = []
      listener.on('message', datagram => datagrams.push(datagram))
      const { sink } = await openUdp({ udpPort: listener.address().port }, { datagramBytes: 300, table: 'heard' })
      await sink.write([batchOf(Array.from({ length: 100 }, (_, i) => i)), rowOf({ note: ['string', 'x'.repeat(1000)] })])
      for (let i = 0; i < 100 && !datagrams.some(({ length }) => length > 1000); i++) await sleep(10)
      listener.close()
      const sizes = datagrams.map(({ length }) => length)
      expect(sizes.filter(size => size > 300)).to.have.length(1)
      expect(sizes.slice(0, -2).every(size => size > 250)).to.equal(true)
      expect(datagrams.every(datagram => datagram.at(-1) === 10)).to.equal(true)
      expect(Buffer.concat(datagrams).toString().split('\n')).to.have.length(102)
      await sink.close()
    })

    it('refuses a point that is longer than any datagram', async () => {
      const { sink } = await openUdp({})
      const error = await failureOf(() => sink.write([rowOf({ note: ['string', 'x'.repeat(70_000)] })]))
      expect(error.message).to.match(/EMSGSIZE.*longer than a datagram/)
      expect(isTransient(error)).to.equal(false)
    })

    it('is for version 1 only', async () => {
      expect((await failureOf(() => openUdp({ version: '2' }))).message).to.match(/Only version 1/)
    })
  })
})
