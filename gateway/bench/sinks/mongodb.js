import { Long, MongoClient } from 'mongodb'
import { manyAtOnce } from '../../base/many-at-once.js'
import { WRITE_CONCERN } from '../../databases/mongodb/insert.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'
import { makeTable } from './open.js'

/**
 * @typedef {import('./sink-bench.js').Running} Running
 * @typedef {import('../../batch/batch.js').Batch} Batch
 */

/** Batches that the rival has on their way at once: more make it no faster. */
const LOADER_WRITES = 2

const FERRETDB = 'the server is FerretDB over PostgreSQL, not mongod, whose figures would be several times as high: ' +
  'what counts is the ratio to the driver'

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'MongoDB, a document a row, index on time_ns',
  missing: servers => servers('mongodb').missing(),
  async start (folder, servers) {
    const server = await servers('mongodb').start({ folder })
    const { url, user, password, database } = server
    const client = new MongoClient(url, user ? { auth: { username: user, password } } : {})
    const db = client.db(database)
    const { version, ferretdbVersion, ferretdb = ferretdbVersion } = await db.command({ buildInfo: 1 })

    const address = { type: 'mongodb', options: {}, login: { url, user, password, database } }
    /** The collection as our sink makes it. @param {Batch[]} batches */
    const makeCollection = async ([batch]) => {
      await makeTable(address, batch)
      return db.collection(batch.source, { writeConcern: WRITE_CONCERN })
    }
    const collections = async () => (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)

    const clear = async () => {
      for (const name of await collections()) await db.dropCollection(name)
    }
    await refuseWhatIsThere(server, collections)

    return {
      version: ferretdb ? `FerretDB, MongoDB protocol ${version}` : `MongoDB ${version}`,
      ...ferretdb && { note: FERRETDB },
      settings: await settingsOf(async () => {
        const { storageEngine } = await db.admin().command({ serverStatus: 1 })
        return storageEngine ? [['storage engine', storageEngine.name]] : []
      }),
      address,
      watched: server.watched,
      clear,
      async count () {
        const names = (await collections()).filter(name => name !== 'sluice_commits')
        const counts = await Promise.all(names.map(name => db.collection(name).countDocuments()))
        return counts.reduce((sum, each) => sum + each, 0)
      },
      loader: {
        name: 'the driver, insertMany unordered, as many documents at once',
        async run (batches) {
          const collection = await makeCollection(batches)
          const waiting = batches.map(documentsOf)
          const start = performance.now()
          await manyAtOnce(LOADER_WRITES, waiting, documents => collection.insertMany(documents, { ordered: false }))
          return (performance.now() - start) / 1000
        }
      },
      naive: {
        name: 'an insertOne a message, as node-red-node-mongodb',
        rows: 2000,
        async run (batches) {
          const collection = await makeCollection(batches)
          const documents = batches.flatMap(documentsOf)
          const start = performance.now()
          await Promise.all(documents.map(document => collection.insertOne(document)))
          return (performance.now() - start) / 1000
        }
      },
      async remove () {
        if (!server.remove) await clear()
        await client.close()
        await server.remove?.()
      }
    }
  }
}

/** @param {Batch} batch  of time, sensor and value */
function documentsOf ({ time, columns: [sensor, value] }) {
  return Array.from(time, (each, row) => ({
    time: new Date(Number(each / 1_000_000n)), time_ns: Long.fromBigInt(each), sensor: sensor[row], value: value[row]
  }))
}
