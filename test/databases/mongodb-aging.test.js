import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { agingCollection } from '../../gateway/databases/mongodb/aging.js'
import { connect } from '../../gateway/databases/mongodb/connection.js'
import { open } from '../../gateway/databases/mongodb/sink.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { requireServer } from '../servers/programs.js'
import { batchOf, identity, T0 } from './contract/batches.js'

const DAY_SECONDS = 86_400

/** What a server is told of a time-series collection, which FerretDB has none of. */
describe('MongoDB time-series collections that age', () => {
  const lengthened = { collMod: 'press', expireAfterSeconds: 3 * DAY_SECONDS }
  for (const [expireAfterSeconds, told] of /** @type {const} */ ([
    [DAY_SECONDS, [lengthened]], [3 * DAY_SECONDS, []], [9 * DAY_SECONDS, []], [undefined, []]
  ])) {
    it(`are kept for three days at least, where they were kept for ${expireAfterSeconds ?? 'no limited'} seconds`, async () => {
      /** @type {object[]} */
      const commands = []
      const documents = [{ time: new Date(0) }]
      const found = { project: () => found, sort: () => found, limit: () => found, toArray: async () => documents }
      const db = /** @type {any} */ ({
        collection: () => ({ find: () => found }),
        listCollections: () => ({ toArray: async () => [{ name: 'press', options: { timeseries: {}, expireAfterSeconds } }] }),
        command: async (/** @type {object} */ command) => { commands.push(command) }
      })
      await agingCollection(db, 'press', null, { layout: 'timeseries', keepDays: 3 }).span()
      expect(commands).to.deep.equal(told)
    })
  }
})

describe('MongoDB documents that age among those of others', () => {
  /** @type {import('../servers/mongodb.js').MongodbServer} */
  let server
  before(async function () {
    requireServer(this, 'mongodb', missingMongodb())
    server = await startMongodb()
  })
  after(() => server?.remove())

  it('go also where older ones of others would fill a turn', async () => {
    const client = new MongoClient(server.url)
    const connection = connect({ url: server.url, database: 'plant' })
    const sink = await open({ collection: '{source}' }, { server: connection })
    try {
      await sink.write([batchOf([1, 2, 3], { identity: identity(0) })])
      const others = Array.from({ length: 3 }, (_, i) => ({ source: 'press', time_ns: T0 - 10n + BigInt(i), force: -1 }))
      await client.db('plant').collection('press').insertMany(others)
      await sink.span?.()
      expect(await sink.removeBefore?.(T0 + 3n, { maxRows: 3 })).to.equal(3)
      expect(await client.db('plant').collection('press').distinct('force')).to.deep.equal([-1])
    } finally {
      await sink.close()
      await connection.close()
      await client.close()
    }
  })
})
