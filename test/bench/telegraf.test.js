import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openPostgresql } from '../../gateway/bench/postgresql-server.js'
import { buildTelegraf, VERSION } from '../../gateway/bench/telegraf/build.js'
import { sluiceConsumer, telegrafConfiguration } from '../../gateway/bench/telegraf/consumers.js'
import { measure, measureBareClient, measureKills } from '../../gateway/bench/telegraf/measure.js'
import { messageAt } from '../../gateway/bench/telegraf/messages.js'
import { encodePublish, RawPublisher } from '../../gateway/bench/telegraf/raw-publisher.js'
import { Stored } from '../../gateway/bench/telegraf/stored.js'
import { telegrafTable } from '../../gateway/bench/telegraf/table.js'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { measuredServers } from '../servers/measured.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql } from '../servers/postgresql.js'

const servers = (/** @type {string} */ name) => measuredServers[name]

describe('The bench of Telegraf and Sluice', () => {
  /** @type {string} */
  let folder

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-bench-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  describe('its messages', () => {
    /** @param {'lines'|'json'} format @param {boolean} isWarmUp */
    const second = (format, isWarmUp) => messageAt({ shape: { format, rowsPerMessage: 2, devices: 100 }, messages: 2, isWarmUp }, 1)

    it('are the same whenever they are made', () => {
      expect(second('json', false)).to.deep.equal({
        topic: 'bench/d0001',
        payload: '[{"time":1750000000002,"n":2,"temperature":26.69,"pressure":1006.90,"speed":2.111,"current":1.509},' +
          '{"time":1750000000003,"n":3,"temperature":28.55,"pressure":1037.90,"speed":4.445,"current":0.623}]'
      })
    })

    it('have the same rows in line protocol and in JSON', () => {
      for (const isWarmUp of [false, true]) {
        const [lines, json] = [second('lines', isWarmUp), second('json', isWarmUp)].map(({ topic, payload }) => {
          const { batches: [batch], refused } = decodeMessage(Buffer.from(payload), { source: topic })
          expect(refused).to.deep.equal([])
          return batch.toObjects().map(({ n, ...row }) => ({ n: Number(n), ...row }))
        })
        expect(lines).to.deep.equal(json)
        expect(lines.map(({ n }) => n)).to.deep.equal(isWarmUp ? [-4, -5] : [2, 3])
      }
    })
  })

  it('publishes all, and no more than the window before it is acknowledged', async () => {
    const WINDOW = 5
    const lengths = [0, 100, 200, 20_000, ...Array.from({ length: 20 }, () => 1)]
    const packets = lengths.map((length, i) => encodePublish({ topic: `bench/d${i}`, payload: 'x'.repeat(length) }, i))
    const broker = await slowBroker(packets.length, WINDOW)
    const publisher = new RawPublisher({ host: '127.0.0.1', port: broker.port, clientId: 'bench', packets, window: WINDOW })
    await publisher.connected()
    await publisher.publish()
    await broker.close()
    expect(publisher.acknowledged).to.equal(packets.length)
    expect(broker.mostUnacknowledged).to.equal(WINDOW)
    expect(broker.published.map(({ id }) => id)).to.deep.equal(packets.map((_, i) => i + 1))
    expect(broker.published.map(({ payload }) => payload)).to.deep.equal(lengths)
  })

  describe('with a database', () => {
    /** @type {Awaited<ReturnType<typeof openPostgresql>>} */
    let database

    before(async function () {
      requirePostgresql(this)
      database = await openPostgresql(servers, tmpdir())
    })

    after(() => database?.remove())
    beforeEach(() => database.clear())

    it('tells what is lost from what is doubled, in all tables that have numbers of rows', async () => {
      const stored = new Stored(database)
      expect([await stored.count(), await stored.countWarmUp()]).to.deep.equal([{ rows: 0, distinct: 0 }, 0])
      await database.query('CREATE TABLE bench (n bigint)')
      await database.query('CREATE TABLE "bench.d1" (n double precision)')
      await database.query('CREATE TABLE sluice_commits (seq bigint)')
      await database.query('INSERT INTO sluice_commits VALUES (7)')
      await database.query('INSERT INTO bench VALUES (0), (1), (1), (-1)')
      await database.query('INSERT INTO "bench.d1" VALUES (1), (3), (-2), (-2)')
      expect([await stored.count(), await stored.countWarmUp()]).to.deep.equal([{ rows: 5, distinct: 3 }, 2])
    })

    it('waits for all rows, or for as long as it may', async () => {
      const stored = new Stored(database)
      await database.query('CREATE TABLE bench (n bigint)')
      await database.query('INSERT INTO bench VALUES (0)')
      const start = performance.now()
      expect((await stored.until(2, { limitMs: 100 })).rows).to.equal(1)
      expect(performance.now() - start).to.be.at.least(100)
      const all = stored.until(2, { limitMs: 120_000 })
      await database.query('INSERT INTO bench VALUES (1)')
      expect((await all).rows).to.equal(2)
    })

    it('measures a consumer, kills it, and finds each row once', async function () {
      requireMosquitto(this)
      const load = { shape: { format: /** @type {const} */ ('json'), rowsPerMessage: 10, devices: 2 }, messages: 400 }
      const around = { servers, database, folder }
      const measured = await measure(sluiceConsumer, load, around, { limitMs: 120_000 })
      expect(measured).to.include({ rows: 4000, isAll: true })
      for (const figure of Object.values(measured)) expect(Number(figure)).to.be.above(0)
      const killed = await measureKills(sluiceConsumer, load, around, { kills: 1 })
      expect(killed).to.deep.equal({ kills: 1, published: 4000, lost: 0, doubled: 0 })
      for (const figure of Object.values(await measureBareClient(load, around))) expect(figure).to.be.above(0)
      expect(await readdir(folder)).to.deep.equal([])
    })
  })

  describe('Telegraf', () => {
    it('is not measured without Go, and one sentence says why', async () => {
      expect(await buildTelegraf({ cache: folder, env: { PATH: folder } }))
        .to.deep.equal({ missing: 'Telegraf cannot be built, as Go is missing (https://go.dev/dl).' })
    })

    it('is not measured where it cannot be built, and is not taken for built', async () => {
      const env = await goThat('[ $1 = version ] || { echo "some lines" >&2; echo "dial tcp: lookup proxy: no such host" >&2; exit 1; }')
      const missing = 'Telegraf cannot be built: Go reports "dial tcp: lookup proxy: no such host".'
      for (let i = 0; i < 2; i++) expect(await buildTelegraf({ cache: folder, env })).to.deep.equal({ missing })
      expect(await readdir(folder)).to.deep.equal(['bin'])
    })

    it('is built once', async () => {
      const env = await goThat('echo "$@" >> "$(dirname "$0")/calls"; [ $1 = version ] || echo built > "$GOBIN/telegraf"')
      const program = join(folder, `telegraf-${VERSION}`, 'telegraf')
      for (let i = 0; i < 2; i++) expect(await buildTelegraf({ cache: folder, env })).to.deep.equal({ program })
      expect(await readFile(program, 'utf8')).to.equal('built\n')
      expect(await readFile(join(folder, 'bin', 'calls'), 'utf8'))
        .to.match(/^version\ninstall -trimpath -tags custom,\S+ github\.com\/influxdata\/telegraf\/cmd\/telegraf@v[\d.]+\n$/)
    })

    it('gets any password there is', () => {
      const server = { url: '', host: 'localhost', port: 1, user: 'me', password: 'it\'s "\\', database: 'bench' }
      const shape = { format: /** @type {const} */ ('lines'), rowsPerMessage: 1, devices: 1 }
      expect(telegrafConfiguration({ mqtt: server, postgresql: server, folder, shape }))
        .to.contain(String.raw`"host='localhost' port='1' user='me' password='it\\'s \"\\\\' dbname='bench' sslmode='disable'"`)
    })

    /** An environment whose go is a shell script. @param {string} script */
    async function goThat (script) {
      const bin = join(folder, 'bin')
      await mkdir(bin)
      await writeFile(join(bin, 'go'), `#!/bin/sh\n${script}\n`)
      await chmod(join(bin, 'go'), 0o755)
      return { PATH: `${bin}:/usr/bin:/bin` }
    }
  })

  describe('its table', () => {
    const shape = { format: /** @type {const} */ ('lines'), rowsPerMessage: 1, devices: 100 }
    const telegraf = { rows: 1000, isAll: true, rowsPerSecond: 20_000, microsecondsPerValue: 5, peakMegabytes: 80 }
    const sluice = { ...telegraf, rowsPerSecond: 21_000, microsecondsPerValue: 4, peakMegabytes: 240 }
    const bare = { rowsPerSecond: 40_000, microsecondsPerValue: 2 }
    const cell = { shape, messages: 1000, telegraf, sluice, bare }
    const native = { rows: 1, values: 5, seconds: 1, valuesPerSecond: 1e6, cpuMicrosecondsPerValue: 0.2, memoryAboveIdleMegabytes: 50 }
    const killed = { kills: 3, published: 1000, lost: 0, doubled: 0 }
    const comparison = { version: VERSION, idleMegabytes: 140, native, cells: [cell], kills: [] }
    /** Goals by what they are of. @param {{cells?: any[], kills?: any[]}} changed */
    const goalsOf = changed => Object.fromEntries(telegrafTable({ ...comparison, ...changed })
      .filter(([, , , isMet]) => isMet !== null).map(([what, value, goal, isMet]) => [what.trim(), [value, goal, isMet]]))

    it('says what of the goals is met, and what is missed', () => {
      expect(goalsOf({ kills: [{ shape, messages: 1000, telegraf: { ...killed, doubled: 7 }, sluice: killed }] })).to.deep.equal({
        'processor time': ['0.200 µs/value', '≤ 0.15', false],
        'processor time, times Telegraf\'s': ['0.80', '≤ 0.9', true],
        'rate, times Telegraf\'s': ['1.05', '≥ 1', true],
        'memory above an idle Node-RED': ['100 MB', '≤ 80', false],
        Sluice: ['1000 rows, 3 kills: 0 lost, 0 doubled', 'none lost, none doubled', true]
      })
    })

    it('misses the goal where rows are doubled, and where not all are stored in time', () => {
      const unfinished = { ...cell, sluice: { ...sluice, rows: 900, isAll: false } }
      const kills = [{ shape, messages: 1000, telegraf: killed, sluice: { ...killed, doubled: 1 } }]
      const goals = goalsOf({ cells: [unfinished], kills })
      expect(goals['rows Sluice has stored in its time']).to.deep.equal(['900 of 1000', 'all', false])
      expect(goals.Sluice).to.deep.equal(['1000 rows, 3 kills: 0 lost, 1 doubled', 'none lost, none doubled', false])
    })

    it('asks for more the more rows there are in a message', () => {
      const goals = [1, 100, 1000].map(rowsPerMessage => {
        const goal = goalsOf({ cells: [{ ...cell, shape: { ...shape, rowsPerMessage } }] })['processor time, times Telegraf\'s']
        return goal.slice(1)
      })
      expect(goals).to.deep.equal([['≤ 0.9', true], ['≤ 0.7', false], ['≤ 0.5', false]])
    })

    it('has the reason of what could not be measured', () => {
      expect(telegrafTable({ missing: 'No Go.' })).to.deep.equal([['Telegraf', 'not measured', 'No Go.', null]])
      const table = telegrafTable({ ...comparison, cells: [{ ...cell, sluice: { problem: 'it did not start\nits output' } }] })
      expect(table).to.deep.include(['  Sluice', 'failed: it did not start', '', null])
    })
  })
})

/**
 * A broker that acknowledges one message at a time, and only when as many wait as may, or none is left to come.
 * @param {number} messages  there will be @param {number} window
 */
async function slowBroker (messages, window) {
  const CONNECT = 1
  let bytes = Buffer.alloc(0)
  const seen = { published: /** @type {{id: number, payload: number}[]} */ ([]), acknowledged: 0, mostUnacknowledged: 0 }
  const server = createServer(socket => socket.on('data', chunk => {
    bytes = Buffer.concat([bytes, chunk])
    for (let packet = takePacket(); packet; packet = takePacket()) {
      if (packet.type === CONNECT) {
        socket.write(Buffer.from([0x20, 2, 0, 0]))
        continue
      }
      const topicEnd = 2 + packet.body.readUInt16BE(0)
      seen.published.push({ id: packet.body.readUInt16BE(topicEnd), payload: packet.body.length - topicEnd - 2 })
    }
    seen.mostUnacknowledged = Math.max(seen.mostUnacknowledged, seen.published.length - seen.acknowledged)
    const isTurn = () => seen.published.length - seen.acknowledged >= Math.min(window, messages - seen.acknowledged)
    if (isTurn() && seen.acknowledged < messages) acknowledge()
    while (seen.published.length === messages && seen.acknowledged < messages) acknowledge()

    function acknowledge () {
      const { id } = seen.published[seen.acknowledged++]
      socket.write(Buffer.from([0x40, 2, id >> 8, id & 255]))
    }
  })).listen(0, '127.0.0.1')
  await once(server, 'listening')

  /** The first packet of the bytes, where it is there in whole. */
  function takePacket () {
    let length = 0
    for (let i = 1, unit = 1; i < bytes.length; i++, unit *= 128) {
      length += (bytes[i] & 127) * unit
      if (bytes[i] & 128) continue
      const end = i + 1 + length
      if (bytes.length < end) return null
      const packet = { type: bytes[0] >> 4, body: bytes.subarray(i + 1, end) }
      bytes = bytes.subarray(end)
      return packet
    }
    return null
  }

  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return Object.assign(seen, {
    port,
    async close () {
      server.close()
      await once(server, 'close')
    }
  })
}
