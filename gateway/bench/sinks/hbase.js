import { manyAtOnce } from '../../base/many-at-once.js'
import { encodeRows } from '../../databases/hbase/cells.js'
import { connect } from '../../databases/hbase/connection.js'
import { chunksOf, timedRows } from '../../databases/hbase/rows.js'
import { prepareTable } from '../../databases/hbase/tables.js'
import { BatchKeys } from '../../databases/keyed/batch-keys.js'
import { COMMITS_TABLE } from '../../databases/names.js'
import { refuseWhatIsThere } from '../empty.js'
import { makeTable } from './open.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../../databases/hbase/cells.js').Row} Row
 */

const REQUESTS_AT_ONCE = 4

/** Requests of the naive way under way at once. */
const NAIVE_AT_ONCE = 32

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'HBase, wide, through its REST server',
  missing: servers => servers('hbase').missing(),
  async start (folder, servers) {
    const server = await servers('hbase').start({ folder })
    const { host, port, user, password, database } = server
    const login = { host, port, user, password, database }
    const own = connect({ ...login, connections: NAIVE_AT_ONCE })
    const address = { type: 'hbase', options: {}, login }
    const clear = async () => {
      await Promise.all((await own.tables()).map(name => own.drop(name)))
    }
    /** Into the table as our sink makes it. @param {Batch[]} batches */
    const rowsOf = async batches => {
      await makeTable(address, batches[0])
      const options = { layout: 'wide', key: [], keepDays: 0 }
      const plan = await prepareTable(own, { name: batches[0].source, arranged: batches[0], withSource: false }, options)
      const keys = new BatchKeys()
      return function * () {
        for (const batch of batches) yield * timedRows(plan, batch, keys.of(batch))
      }
    }
    /** @param {Iterable<Row[]>} chunks  prepared before they are sent @param {string} table @param {number} atOnce */
    const send = async (chunks, table, atOnce) => {
      const waiting = Array.from(chunks, encodeRows)
      const start = performance.now()
      await manyAtOnce(atOnce, waiting, rows => own.put(table, rows))
      return (performance.now() - start) / 1000
    }
    await refuseWhatIsThere(server, () => own.tables())
    return {
      version: (/HBase [\d.]+/.exec(await own.test()) ?? ['HBase'])[0],
      settings: '',
      address,
      watched: server.watched,
      clear,
      async count () {
        let count = 0
        for (const name of await own.tables()) {
          if (name === COMMITS_TABLE) continue
          for await (const page of own.scan(name, { columns: [Buffer.from('d:time_ns')] })) count += page.length
        }
        return count
      },
      loader: {
        name: `the same rows, prepared: multi-row PUTs, ${REQUESTS_AT_ONCE} at once`,
        async run (batches) {
          const rows = await rowsOf(batches)
          return send(chunksOf(rows()), batches[0].source, REQUESTS_AT_ONCE)
        }
      },
      naive: {
        name: `a PUT a row, ${NAIVE_AT_ONCE} at once`,
        rows: 1000,
        async run (batches) {
          const rows = await rowsOf(batches)
          return send(Array.from(rows(), row => [row]), batches[0].source, NAIVE_AT_ONCE)
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
