import { expect } from 'chai'
import { open } from '../../gateway/databases/influxdb/sink.js'
import { open as openReader } from '../../gateway/databases/influxdb/reader.js'
import { connect } from '../../gateway/databases/influxdb/connection.js'
import { readerContract } from '../queries/contract.js'
import { missingInfluxdb, startInfluxdb } from '../servers/influxdb.js'
import { requireServer } from '../servers/programs.js'
import { batchOf, rowOf, T0 } from './contract/batches.js'

describe('InfluxDB reader', () => {
  /** @type {import('../servers/influxdb.js').InfluxdbServer} */
  let server
  /** @type {import('../../gateway/databases/influxdb/connection.js').InfluxdbServer} */
  let connected
  let databases = 0

  before(async function () {
    requireServer(this, 'influxdb', missingInfluxdb())
    server = await startInfluxdb()
  })

  after(() => server?.remove())

  beforeEach(() => {
    connected = connect({ port: server.port, user: server.user, password: server.password, database: `plant ${databases++}` })
  })

  afterEach(async () => {
    await server.query(`DROP DATABASE "${connected.options.database}"`)
    await connected.close()
  })

  readerContract({
    layouts: ['wide', 'narrow'],
    async store (layout, batches) {
      const sink = await open({ layout }, { server: connected })
      await sink.prepare(batches)
      await sink.write(batches)
      await sink.close()
    },
    open: layout => openReader({ table: 'press', layout }, { server: connected })
  })

  it('reads one source of a measurement that several share', async () => {
    const sink = await open({ table: 'all' }, { server: connected })
    await sink.write([batchOf([1]), batchOf([2], { source: 'o\'ven' })])
    const reader = await openReader({ table: 'all', source: 'o\'ven' }, { server: connected })
    const found = []
    for await (const page of reader.samples({ sensors: ['force'], from: T0, to: T0 + 1n })) found.push(...page)
    expect(found).to.deep.equal([{ time: T0, sensor: 'force', value: 2 }])
  })

  it('summarises a sensor whose narrow values are floats and large whole numbers', async () => {
    const sink = await open({ layout: 'narrow' }, { server: connected })
    await sink.write([batchOf([1, 2]), rowOf({ force: ['int64', 6n] }, { time: BigInt64Array.of(T0 + 2n) })])
    const reader = await openReader({ table: 'press', layout: 'narrow' }, { server: connected })
    const range = { from: T0, to: T0 + 3n }
    const summaries = await reader.summaries({ sensors: ['force'], ...range, statistics: ['count', 'mean', 'max'] })
    expect(summaries).to.deep.equal([{ time: T0, sensor: 'force', count: 3, mean: 3, max: 6 }])
    expect(await reader.edge({ sensor: 'force', ...range, above: 1.5, last: true })).to.equal(T0 + 2n)
    expect(await reader.minimum({ sensor: 'force', ...range })).to.equal(T0)
  })

  it('compares with limits however large or small', async () => {
    const sink = await open({}, { server: connected })
    await sink.write([batchOf([-1e300, 1e-50, 1e22])])
    const reader = await openReader({ table: 'press' }, { server: connected })
    const edge = (/** @type {object} */ limits) => reader.edge({ sensor: 'force', from: T0, to: T0 + 3n, ...limits })
    expect(await edge({ above: 1e21 })).to.equal(T0 + 2n)
    expect(await edge({ above: 1e22 })).to.equal(null)
    expect(await edge({ above: 1e-51 })).to.equal(T0 + 1n)
    expect(await edge({ below: -1e299 })).to.equal(T0)
  })
})
