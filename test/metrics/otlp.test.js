import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { familiesOf } from '../../gateway/metrics/families.js'
import { isOtlpWanted, startOtlp } from '../../gateway/metrics/otlp.js'
import { Stats } from '../../gateway/stats/stats.js'
import { sluice } from '../cli/process.js'

const OLDEST_NODE = [22, 15]

describe('Metrics by OpenTelemetry', () => {
  const own = Object.keys(process.env).filter(name => name.startsWith('OTEL_'))
  /** @type {import('node:http').Server} */
  let server
  /** @type {string} */
  let url

  before(function () {
    const [major, minor] = process.versions.node.split('.').map(Number)
    if (own.length > 0 || major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) this.skip()
  })
  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  })
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name]
    server.closeAllConnections()
    server.close()
  })

  const stats = new Stats({ nowNs: () => 1_500_000_000n })
  const sink = stats.meter('sink', 'plant')
  sink.rows = 7
  sink.latency.record(4000, 10)
  sink.latency.record(2_000_000, 1)
  const families = async () => familiesOf(stats, { gatewayId: 'gw-a1b2c3d4', isReady: true })

  it('are sent as the protocol has it, with the resource that the environment names', async () => {
    Object.assign(process.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
      OTEL_METRIC_EXPORT_INTERVAL: '50',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=plant-7'
    })
    const asked = once(server, 'request')
    const stop = await startOtlp({ families, gatewayId: 'gw-a1b2c3d4', log: line => { throw new Error(line) } })
    const [request, response] = await asked
    expect([request.method, request.url]).to.deep.equal(['POST', '/v1/metrics'])
    expect(request.headers).to.include({ 'content-type': 'application/x-protobuf', authorization: 'Bearer secret' })
    const body = Buffer.concat(await request.toArray())
    server.on('request', (_request, later) => later.end())
    response.end()
    await stop()

    const [[resource], [scope]] = of(of(body)[1][0], 1, 2)
    const attributes = attributesOf(of(resource)[1])
    expect(attributes).to.include({ 'service.name': 'sluice', 'service.instance.id': 'gw-a1b2c3d4' })
    expect(attributes).to.include({ 'deployment.environment.name': 'plant-7' })
    const metrics = new Map(of(scope)[2].map((/** @type {Buffer} */ metric) => [text(of(metric)[1]), of(metric)]))

    const rows = metrics.get('sluice_sink_rows_total')
    expect([text(rows[2]), text(rows[3])]).to.deep.equal(['Rows stored.', '{rows}'])
    const sum = of(rows[7][0])
    expect([sum[2][0], sum[3][0]], 'cumulative, monotonic').to.deep.equal([2n, 1n])
    const point = of(sum[1][0])
    expect(attributesOf(point[7])).to.deep.equal({ sink: 'plant' })
    expect(point[4][0].readDoubleLE()).to.equal(7)
    expect(point[3][0].readBigUInt64LE()).to.be.at.least(point[2][0].readBigUInt64LE())

    const ready = of(of(metrics.get('sluice_ready')[5][0])[1][0])
    expect(ready[4][0].readDoubleLE()).to.equal(1)

    const latency = metrics.get('sluice_sink_latency_seconds')
    expect(text(latency[3])).to.equal('s')
    const histogram = of(of(latency[9][0])[1][0])
    expect(histogram[4][0].readBigUInt64LE()).to.equal(11n)
    expect(histogram[5][0].readDoubleLE()).to.be.within(2.04, 2.043)
    const bounds = numbers(histogram[7][0], (bytes, at) => bytes.readDoubleLE(at))
    const counts = numbers(histogram[6][0], (bytes, at) => Number(bytes.readBigUInt64LE(at)))
    expect(counts.length).to.equal(bounds.length + 1)
    expect(bounds.flatMap((bound, i) => counts[i] > 0 ? [[bound, counts[i]]] : [])).to.deep.equal([[0.005, 10], [2.5, 1]])
  })

  it('are sent once more at the end, and nobody who is not there is waited for', async () => {
    process.env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT = `${url}/own/path`
    const stop = await startOtlp({ families, gatewayId: 'gw', log: () => {} })
    const asked = once(server, 'request')
    const stopped = stop()
    expect((await asked)[0].url).to.equal('/own/path')
    await stopped
  })

  it('say once what is wrong, with a code', async () => {
    Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_METRIC_EXPORT_INTERVAL: '200' })
    let count = 0
    server.on('request', (_request, response) => {
      count++
      response.writeHead(400).end()
    })
    /** @type {string[]} */
    const lines = []
    const stop = await startOtlp({ families, gatewayId: 'gw', log: line => { lines.push(line) } })
    while (count < 4) await once(server, 'request')
    await stop()
    expect(lines[0]).to.match(/^SLUICE_OTLP: /)
    expect(lines.filter((line, i) => line === lines[i - 1]), 'what was said just before').to.deep.equal([])
  })

  it('are sent by a gateway whose environment says so, also when it ends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-otlp-'))
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url
    await writeFile(join(folder, 'flow.json'), '[]')
    const gateway = sluice('start', '--user-dir', join(folder, 'user'), '--flows', join(folder, 'flow.json'), '--port', '0')
    try {
      await gateway.says(/Ctrl-C/)
      const asked = once(server, 'request')
      gateway.child.kill('SIGTERM')
      const [request, response] = await asked
      const body = Buffer.concat(await request.toArray())
      response.end()
      const [[resource]] = of(of(body)[1][0], 1)
      expect(attributesOf(of(resource)[1])['service.instance.id']).to.match(/^gw-/)
      expect((await gateway.exit).code).to.equal(0)
    } finally {
      gateway.child.kill('SIGKILL')
      await gateway.exit
      await rm(folder, { recursive: true })
    }
  })

  it('need packages, which the message names, only where they are wanted', async () => {
    expect([isOtlpWanted({}), isOtlpWanted({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })]).to.deep.equal([false, false])
    expect(isOtlpWanted({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url })).to.equal(true)
    expect(isOtlpWanted({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).to.equal(true)
    const load = () => Promise.reject(new Error('Cannot find package'))
    const error = await startOtlp({ families, gatewayId: 'gw', log: () => {}, load }).catch(reason => reason)
    expect(error).to.have.property('code', 'SLUICE_OTLP_MISSING')
    expect(error.message).to.contain('npm install @opentelemetry/api')
  })
})

/**
 * The fields of a message of Protocol Buffers, each a list by its number: varints as BigInt, all else as bytes.
 * @param {Buffer} bytes
 * @param {number[]} wanted  these, instead of all
 * @returns {any}
 */
function of (bytes, ...wanted) {
  /** @type {Record<number, any[]>} */
  const fields = {}
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const key = Number(varint())
    const type = key & 7
    const list = fields[key >> 3] ??= []
    if (type === 0) {
      list.push(varint())
    } else {
      const length = type === 2 ? Number(varint()) : type === 1 ? 8 : 4
      list.push(bytes.subarray(at, at += length))
    }
  }
  return wanted.length > 0 ? wanted.map(number => fields[number]) : fields
}

/** @param {Buffer[]} list */
function text ([bytes]) {
  return bytes.toString()
}

/** @param {Buffer[]} pairs */
function attributesOf (pairs) {
  return Object.fromEntries(pairs.map(pair => {
    const [[key], [value]] = of(pair, 1, 2)
    return [key.toString(), of(value)[1]?.[0].toString()]
  }))
}

/** @param {Buffer} packed  of eight bytes each @param {(bytes: Buffer, at: number) => number} read */
function numbers (packed, read) {
  return Array.from({ length: packed.length / 8 }, (_, i) => read(packed, i * 8))
}
