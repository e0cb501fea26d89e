import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { open as openSink } from '../../gateway/databases/mongodb/sink.js'
import { open } from '../../gateway/databases/mongodb/reader.js'
import { connect } from '../../gateway/databases/mongodb/connection.js'
import { readerContract } from '../queries/contract.js'
import { lookupContract } from '../queries/lookups.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { requireServer, suspend } from '../servers/programs.js'
import { batchOf, failureOf, rowOf, T0 } from './contract/batches.js'

const ALL = { from: 0n, to: 2n ** 63n - 1n }

describe('MongoDB reader', () => {
  /** @type {import('../servers/mongodb.js').MongodbServer} */
  let server
  /** @type {import('../../gateway/databases/mongodb/connection.js').MongodbServer} */
  let connected
  let tests = 0

  before(async function () {
    requireServer(this, 'mongodb', missingMongodb())
    server = await startMongodb()
  })

  after(() => server?.remove())

  beforeEach(() => {
    connected = connect({ url: server.url, database: `test${++tests}` })
  })

  afterEach(() => connected?.close())

  /** @param {Record<string, unknown>} options @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const store = async (options, ...batches) => {
    const sink = await openSink(options, { server: connected })
    await sink.prepare(batches)
    await sink.write(batches)
    await sink.close()
  }

  /**
   * @param {Record<string, unknown>} options
   * @param {string[]} sensors
   * @param {Partial<import('../../gateway/databases/reader.js').Range>} [range]
   */
  const samples = async (options, sensors = ['force'], range = {}) => {
    const reader = await open({ table: 'press', ...options }, { server: connected })
    const found = []
    for await (const page of reader.samples({ sensors, ...ALL, ...range })) found.push(...page)
    return found
  }

  const values = async (/** @type {Record<string, unknown>} */ options, sensor = 'force') => {
    return (await samples(options, [sensor])).map(({ value }) => value)
  }

  readerContract({
    layouts: ['wide', 'narrow', 'document'],
    store: (layout, batches) => store({ layout }, ...batches),
    open: layout => open({ table: 'press', layout }, { server: connected }),
    differs: {
      'wide: treats the name of a sensor as a name and nothing else': 'FerretDB cannot store keys with a quotation mark'
    }
  })

  lookupContract({ store, open: options => open({ table: 'press', ...options }, { server: connected }) })

  it('treats the name of a sensor as a name and nothing else', async () => {
    await store({}, rowOf({ 'motor.speed': ['float64', 1], $in: ['float64', 2] }))
    expect(await samples({}, ['$in', 'motor.speed'])).to.deep.equal([
      { time: T0, sensor: '$in', value: 2 }, { time: T0, sensor: 'motor.speed', value: 1 }
    ])
    for (const sensor of ['motor', '_id', 'time', 'time_ns', '', 'a\0b', '*', '$where', '$$ROOT']) {
      expect(await samples({}, [sensor]), sensor).to.deep.equal([])
      const reader = await open({ table: 'press' }, { server: connected })
      expect(await reader.edge({ sensor, ...ALL, above: -1 }), sensor).to.equal(null)
    }
  })

  describe('of the paper\'s documents', () => {
    const second = 1_518_465_409_000_000_000n
    // Listing 3 of the paper, and the second after; of its times MongoDB holds the milliseconds.
    const time = BigInt64Array.of(second + 135_000_000n, second + 136_000_999n, second + 1_000_000_000n)
    const columns = [[0, 0, 1], [0, 2, 3], [0, 4, 5], [9, 10, 11], [347, 351, 349]].map(column => Uint16Array.from(column))
    const fields = columns.map((_, i) => ({ name: `m${i}`, type: /** @type {const} */ ('uint16') }))
    const listing = () => batchOf([0, 0, 0], { time, fields, columns })
    const stored = Array.from(time, at => at - at % 1_000_000n)
    const all = stored.flatMap((at, row) => columns.map((column, i) => ({ time: at, sensor: String(i), value: column[row] })))

    for (const layout of ['paper-individual', 'paper-bulk']) {
      it(`finds all that ${layout} stores, by the numbers of the fields`, async () => {
        await store({ layout }, listing())
        expect(await samples({ layout }, ['0', '1', '2', '3', '4'])).to.deep.equal(all)
        expect(await samples({ layout }, ['4', 'm4', '5'], { from: stored[1], to: stored[2] })).to.deep.equal([
          { time: stored[1], sensor: '4', value: 351 }
        ])
        const reader = await open({ table: 'press', layout }, { server: connected })
        expect(await reader.edge({ sensor: '4', ...ALL, above: 348 })).to.equal(stored[1])
        expect(await reader.edge({ sensor: '4', ...ALL, below: 350, last: true })).to.equal(stored[2])
        expect(await reader.minimum({ sensor: '3', ...ALL })).to.equal(stored[0])
      })
    }
  })

  it('finds a layout that is not the collection\'s, and one it does not know, an error and no lack of samples', async () => {
    const layouts = ['wide', 'document', 'paper-individual', 'paper-bulk']
    for (const layout of layouts) {
      await store({ layout, table: layout }, batchOf([1, 2]))
      for (const other of layouts.filter(each => each !== layout)) {
        const error = await failureOf(() => samples({ table: layout, layout: other }))
        expect(error.code, `${layout} read as ${other}`).to.equal('SLUICE_QUERY_TABLE')
        const reader = await open({ table: layout, layout: other }, { server: connected })
        expect((await failureOf(() => reader.edge({ sensor: 'force', ...ALL, above: 0 }))).code).to.equal('SLUICE_QUERY_TABLE')
        const byKey = () => reader.byKey?.({ names: ['force'], keys: [[1]] }) ?? Promise.resolve()
        expect((await failureOf(byKey)).code).to.equal('SLUICE_QUERY_TABLE')
      }
    }
    expect((await failureOf(() => samples({ layout: 'paper-wholesale' }))).code).to.equal('SLUICE_OPTIONS')
    expect(await samples({ table: 'nowhere' })).to.deep.equal([])
  })

  it('reads one of several sources in a collection', async () => {
    await store({ table: 'all' }, batchOf([1, 2]), batchOf([3], { source: 'oven' }))
    expect(await values({ table: 'all', source: 'oven' })).to.deep.equal([3])
    expect(await values({ table: 'all' })).to.have.members([1, 2, 3])
  })

  it('reads a collection that another program has created, with numbers as sensors\' names', async () => {
    const client = new MongoClient(server.url)
    const at = (/** @type {number} */ ms) => new Date(1_700_000_000_000 + ms)
    await client.db(`test${tests}`).collection('press').insertMany([
      { at: at(2), id: 17, reading: 2.5 },
      { at: at(0), id: 17, reading: 0.5 },
      { at: at(1), id: 18, reading: 1 },
      { at: at(3), id: '17', reading: 3 }
    ])
    await client.close()
    const options = { layout: 'narrow', timeColumn: 'at', sensorColumn: 'id', valueColumn: 'reading' }
    const base = 1_700_000_000_000_000_000n
    expect(await values(options, '17')).to.deep.equal([0.5, 2.5, 3])
    const found = await samples(options, ['18', '17'], { from: base + 1n, to: base + 2_000_001n })
    expect(found.map(({ time, sensor, value }) => [time - base, sensor, value])).to.deep.equal([
      [1_000_000n, '18', 1], [2_000_000n, '17', 2.5]
    ])
  })

  it('finds edges of booleans and of 64-bit integers', async () => {
    for (const layout of ['wide', 'narrow']) {
      await store({ layout, table: layout }, ...[0, 1, 0].map((on, i) => {
        return rowOf({ on: ['bool', on], big: ['int64', BigInt(i) * 2n ** 60n] }, { time: BigInt64Array.of(T0 + BigInt(i)) })
      }))
      const reader = await open({ layout, table: layout }, { server: connected })
      expect(await reader.edge({ sensor: 'on', ...ALL, above: 0.5 })).to.equal(T0 + 1n)
      expect(await reader.edge({ sensor: 'on', ...ALL, below: 0.5, last: true })).to.equal(T0 + 2n)
      expect(await reader.edge({ sensor: 'big', ...ALL, above: 2 ** 60 })).to.equal(T0 + 2n)
    }
  })

  it('ends at once when aborted, although the server hangs', async () => {
    await store({}, batchOf([1]))
    const reader = await open({ table: 'press' }, { server: connected })
    expect(await reader.minimum({ sensor: 'force', ...ALL })).to.equal(T0)
    const abort = new AbortController()
    const resume = await suspend(server.pid)
    try {
      const hanging = failureOf(() => reader.minimum({ sensor: 'force', ...ALL, signal: abort.signal }))
      await sleep(100)
      abort.abort(new Error('closing'))
      expect((await hanging).message).to.equal('closing')
    } finally {
      resume()
    }
  })

  it('reports that there is no connection', async () => {
    const nowhere = connect({ url: 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200' })
    const reader = await open({ table: 'press' }, { server: nowhere })
    expect((await failureOf(() => reader.minimum({ sensor: 'force', ...ALL }))).message).to.match(/ECONNREFUSED.*Check the URL/)
    await nowhere.close()
  })
})
