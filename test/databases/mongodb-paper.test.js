import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { connect } from '../../gateway/databases/mongodb/connection.js'
import { isTransient, open } from '../../gateway/databases/mongodb/sink.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { requireServer } from '../servers/programs.js'
import { ALL_NEW, batchOf, failureOf, identity } from './contract/batches.js'

const SECOND_NS = 1_518_465_409n * 1_000_000_000n

describe('MongoDB sink: the documents of Arnst, Plenk and Wöltche', () => {
  /** @type {import('../servers/mongodb.js').MongodbServer} */
  let server
  /** @type {MongoClient} */
  let client
  /** @type {{close: () => Promise<void>}[]} */
  let opened
  let database = 'test0'

  before(async function () {
    requireServer(this, 'mongodb', missingMongodb())
    server = await startMongodb()
    client = new MongoClient(server.url)
  })

  after(async () => {
    await client?.close()
    await server?.remove()
  })

  beforeEach(() => {
    opened = []
    database = `test${Number(database.slice(4)) + 1}`
  })

  afterEach(async () => {
    for (const each of opened) await each.close()
  })

  /** @param {object} options */
  const openSink = async options => {
    const connected = connect({ url: server.url, database })
    const sink = await open(/** @type {any} */ (options), { server: connected })
    opened.push(sink, connected)
    return sink
  }

  /** Samples of Listing 3, and one of the next second. @param {number} [seq] */
  const listing = seq => {
    const columns = [[0, 0, 65_535], [0, 2, 0], [0, 4, 0], [9, 10, 0], [347, 351, 0]].map(column => Uint16Array.from(column))
    return batchOf([0, 0, 0], {
      time: BigInt64Array.of(SECOND_NS + 135_000_000n, SECOND_NS + 136_000_000n, SECOND_NS + 1_000_000_000n),
      fields: columns.map((_, i) => ({ name: `m${i}`, type: /** @type {const} */ ('uint16') })),
      columns,
      ...seq !== undefined && { identity: identity(seq) }
    })
  }

  const stored = async () => {
    const documents = await client.db(database).collection('press').find().sort({ time: 1 }).toArray()
    return documents.map(({ _id, ...document }) => document)
  }

  const indexes = async () => (await client.db(database).collection('press').indexes()).map(({ key }) => key)

  it('a document per sample: its time, and its values as an array', async () => {
    const sink = await openSink({ layout: 'paper-individual' })
    expect(await sink.write([listing(0)])).to.deep.equal(ALL_NEW)
    expect((await sink.write([listing(0)])).duplicates).to.have.length(1)
    expect(await stored()).to.deep.equal([
      { time: new Date('2018-02-12T19:56:49.135Z'), sensors: [0, 0, 0, 9, 347] },
      { time: new Date('2018-02-12T19:56:49.136Z'), sensors: [0, 2, 4, 10, 351] },
      { time: new Date('2018-02-12T19:56:50.000Z'), sensors: [65_535, 0, 0, 0, 0] }
    ])
    expect(await indexes()).to.deep.equal([{ _id: 1 }, { time: 1 }])
  })

  it('a document per second, with an array of its samples', async () => {
    const sink = await openSink({ layout: 'paper-bulk' })
    expect(await sink.write([listing(0)])).to.deep.equal(ALL_NEW)
    expect((await sink.write([listing(0)])).duplicates).to.have.length(1)
    expect(await stored()).to.deep.equal([
      {
        time: new Date('2018-02-12T19:56:49Z'),
        measurements: [
          { time: new Date('2018-02-12T19:56:49.135Z'), sensors: [0, 0, 0, 9, 347] },
          { time: new Date('2018-02-12T19:56:49.136Z'), sensors: [0, 2, 4, 10, 351] }
        ]
      },
      {
        time: new Date('2018-02-12T19:56:50Z'),
        measurements: [{ time: new Date('2018-02-12T19:56:50Z'), sensors: [65_535, 0, 0, 0, 0] }]
      }
    ])
    expect(await indexes()).to.deep.equal([{ _id: 1 }, { time: 1 }])
  })

  it('are written again after a kill without another of the same rows', async () => {
    for (const layout of ['paper-individual', 'paper-bulk']) {
      await (await openSink({ layout })).write([listing(1)])
      const before = await client.db(database).collection('press').countDocuments()
      // It was killed before it left the record.
      await client.db(database).collection('sluice_commits').deleteMany({ of: { $exists: true } })
      expect(await (await openSink({ layout })).write([listing(1)])).to.deep.equal(ALL_NEW)
      expect(await client.db(database).collection('press').countDocuments()).to.equal(before)
      await client.db(database).dropCollection('press')
      await client.db(database).dropCollection('sluice_commits')
    }
  })

  it('have null where a value is missing, and no infinity where the server takes none', async () => {
    const fields = [{ name: 'a', type: /** @type {const} */ ('float64') }, { name: 'b', type: /** @type {const} */ ('float64') }]
    const sink = await openSink({ layout: 'paper-individual' })
    const gap = batchOf([0], { fields, columns: [Float64Array.of(1), Float64Array.of(2)], validity: [Uint8Array.of(0), null] })
    await sink.write([gap])
    expect((await stored()).map(({ sensors }) => sensors)).to.deep.equal([[null, 2]])
    const infinite = batchOf([0, 0], { fields, columns: [Float64Array.of(1, Infinity), Float64Array.of(3, 4)] })
    const error = await failureOf(() => sink.write([infinite]))
    expect(isTransient(error)).to.equal(false)
    expect(error.faults.map((/** @type {{row: number}} */ { row }) => row)).to.deep.equal([1])
  })
})
