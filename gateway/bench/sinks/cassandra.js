import cassandra from 'cassandra-driver'
import { manyAtOnce } from '../../base/many-at-once.js'
import { connect } from '../../databases/cassandra/connection.js'
import { BatchKeys } from '../../databases/keyed/batch-keys.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'
import { makeTable } from './open.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

/** What the driver's loop was best with, of 100 to 5000 rows and 4 to 32 batches at once. */
const LOADER_ROWS = 1000
const LOADER_WRITES = 16

/** Statements of the naive way under way at once, as the driver's executeConcurrent has them by itself. */
const NAIVE_AT_ONCE = 100

const HOUR_MS = 3_600_000
const SETTINGS = ['commitlog_sync', 'memtable_heap_space']

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'Cassandra, wide, partitions of an hour',
  missing: servers => servers('cassandra').missing(),
  async start (folder, servers) {
    const server = await servers('cassandra').start({ folder })
    const { host, port, user, password, database } = server
    const login = { host, port, user, password, database }
    const own = connect(login)
    const address = { type: 'cassandra', options: {}, login }
    const execute = (/** @type {string} */ cql, /** @type {any[]} */ parameters = []) => own.use(client => client.execute(cql, parameters))
    const tables = async () => {
      const { rows } = await execute('SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?', [database])
      return rows.map(({ table_name: name }) => String(name))
    }
    const clear = async () => {
      for (const name of await tables()) await execute(`TRUNCATE ${own.nameOf(name)}`)
    }
    /** Statements into the table as our sink makes it. @param {Batch[]} batches */
    const statementsOf = async batches => {
      await makeTable(address, batches[0])
      const columns = 'bucket, sluice_id, time, time_ns, sensor, value'
      const query = `INSERT INTO ${own.nameOf(batches[0].source)} (${columns}) VALUES (?, ?, ?, ?, ?, ?)`
      const keys = new BatchKeys()
      return batches.map(batch => {
        const key = keys.of(batch)
        const [sensors, values] = batch.columns
        return () => Array.from(batch.time, (time, row) => {
          const ms = Number(time / 1_000_000n)
          const id = Buffer.alloc(20)
          key.copy(id)
          id.writeUInt32BE(row, 16)
          return { query, params: [new Date(ms - ms % HOUR_MS), id, new Date(ms), time, sensors[row], values[row]] }
        })
      })
    }
    await refuseWhatIsThere(server, tables)
    const { rows: [{ release_version: version }] } = await execute('SELECT release_version FROM system.local')
    return {
      version: `Cassandra ${version}`,
      settings: await settingsOf(async () => {
        const { rows } = await execute('SELECT name, value FROM system_views.settings')
        return rows.filter(({ name }) => SETTINGS.includes(name)).map(({ name, value }) => [name, value])
      }),
      address,
      watched: server.watched,
      clear,
      async count () {
        let count = 0
        for (const name of await tables()) {
          if (name === 'sluice_commits') continue
          const { rows: [found] } = await execute(`SELECT count(*) AS rows FROM ${own.nameOf(name)}`)
          count += Number(found.rows)
        }
        return count
      },
      loader: {
        name: `the driver, unlogged batches of ${LOADER_ROWS}, ${LOADER_WRITES} at once`,
        async run (batches) {
          const statements = await statementsOf(batches)
          const start = performance.now()
          await own.use(async client => {
            await manyAtOnce(LOADER_WRITES, chunks(statements), chunk => client.batch(chunk, { prepare: true, logged: false }))
          })
          return (performance.now() - start) / 1000
        }
      },
      naive: {
        name: `an INSERT a row, ${NAIVE_AT_ONCE} at once`,
        rows: 5000,
        async run (batches) {
          const rows = (await statementsOf(batches)).flatMap(statements => statements())
          const start = performance.now()
          await own.use(client => cassandra.concurrent.executeConcurrent(client, rows.map(({ query, params }) => ({ query, params })),
            { concurrencyLevel: NAIVE_AT_ONCE }))
          return (performance.now() - start) / 1000
        }
      },
      async remove () {
        if (!server.remove) await clear()
        await own.close()
        await server.remove?.()
      }
    }
  }
}

/** @param {(() => {query: string, params: any[]}[])[]} statements  by batch */
function * chunks (statements) {
  let chunk = []
  for (const its of statements) {
    for (const statement of its()) {
      chunk.push(statement)
      if (chunk.length < LOADER_ROWS) continue
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
}
