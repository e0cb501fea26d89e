import { manyAtOnce } from '../../base/many-at-once.js'
import { BatchKeys } from '../../databases/keyed/batch-keys.js'
import { connect } from '../../databases/voltdb/connection.js'
import { load } from '../../databases/voltdb/load.js'
import { rowChunks } from '../../databases/voltdb/rows.js'
import { prepareTable } from '../../databases/voltdb/tables.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'
import { makeTable } from './open.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

const LOADS_AT_ONCE = 8

/** Calls of the naive way under way at once. */
const NAIVE_AT_ONCE = 32

const SETTINGS = ['sitesperhost', 'kfactor', 'commandlogenabled', 'snapshotenabled']

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'VoltDB, wide',
  note: 'its rows are in memory, and on no disk',
  missing: servers => servers('voltdb').missing(),
  async start (folder, servers) {
    const server = await servers('voltdb').start({ folder })
    const { host, port, user, password } = server
    const login = { host, port, user, password }
    const own = connect(login)
    const address = { type: 'voltdb', options: {}, login }
    const session = await own.session()
    const tables = async () => (await session.call('@SystemCatalog', ['TABLES']))[0].rows.map(row => String(row[2]))
    const clear = async () => {
      for (const name of await tables()) await session.query(`TRUNCATE TABLE ${name}`)
    }
    /** Chunks of the table as our sink makes it. @param {Batch[]} batches */
    const chunksOf = async batches => {
      await makeTable(address, batches[0])
      const plan = await prepareTable(session, { name: batches[0].source, arranged: batches[0], withSource: false }, { layout: 'wide' })
      return rowChunks(batches.map(arranged => ({ plan, arranged })), new BatchKeys())
    }
    await refuseWhatIsThere(server, tables)
    return {
      version: `VoltDB ${/^[\d.]+/.exec(session.wire.version)?.[0]}`,
      settings: await settingsOf(async () => {
        const [{ rows }] = await session.call('@SystemInformation', ['DEPLOYMENT'])
        return rows.filter(([name]) => SETTINGS.includes(name)).map(([name, value]) => [name, value])
      }),
      address,
      watched: server.watched,
      clear,
      async count () {
        let count = 0
        for (const name of await tables()) {
          if (name !== 'SLUICE_COMMITS') count += Number((await session.query(`SELECT COUNT(*) FROM ${name}`))[0][0])
        }
        return count
      },
      loader: {
        name: `its procedure of bulk loading, ${LOADS_AT_ONCE} calls at once`,
        async run (batches) {
          const chunks = await chunksOf(batches)
          const start = performance.now()
          await manyAtOnce(LOADS_AT_ONCE, chunks, ({ name, partition, table }) => load(session, name, partition, table, { isNew: true }))
          return (performance.now() - start) / 1000
        }
      },
      naive: {
        name: `its procedure of inserting a row, ${NAIVE_AT_ONCE} calls at once`,
        rows: 5000,
        async run (batches) {
          await makeTable(address, batches[0])
          const keys = new BatchKeys()
          const rows = batches.flatMap(batch => Array.from(batch.time, (time, row) => {
            return [time, keys.of(batch), batch.rowNumber(row), Number(batch.columns[0][row]), Number(batch.columns[1][row])]
          }))
          const start = performance.now()
          await manyAtOnce(NAIVE_AT_ONCE, rows, row => session.call('ROWS.insert', row))
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
