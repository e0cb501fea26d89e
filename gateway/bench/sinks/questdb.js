import { manyAtOnce } from '../../base/many-at-once.js'
import { connect } from '../../databases/questdb/connection.js'
import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { BatchKeys } from '../../databases/keyed/batch-keys.js'
import { linesOf } from '../../databases/questdb/sink.js'
import { prepareTable } from '../../databases/questdb/tables.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'
import { makeTable } from './open.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

const SETTINGS = 'SELECT property_path, value FROM (SHOW PARAMETERS) WHERE property_path = \'cairo.commit.mode\''

const REQUESTS_AT_ONCE = 2

/** Requests of the naive way under way at once. */
const NAIVE_AT_ONCE = 32

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'QuestDB, wide, deduplicated',
  missing: servers => servers('questdb').missing(),
  async start (folder, servers) {
    const server = await servers('questdb').start({ folder })
    const { host, port, user, password } = server
    const login = { host, port, user, password }
    const own = connect(login)
    const address = { type: 'questdb', options: {}, login }
    const tables = async () => (await own.query('SHOW TABLES')).map(([name]) => String(name))
    const clear = async () => {
      for (const name of await tables()) await own.query(`TRUNCATE TABLE "${name}"`)
    }
    /** Into the table as our sink makes it. @param {Buffer[][]} requests @param {number} atOnce */
    const send = async (requests, atOnce) => {
      const start = performance.now()
      await manyAtOnce(atOnce, requests, lines => own.write(lines))
      return (performance.now() - start) / 1000
    }
    /** Of a batch each. @param {Batch[]} batches */
    const requestsOf = async batches => {
      await makeTable(address, batches[0])
      const plan = await prepareTable(own, { name: batches[0].source, arranged: batches[0], withSource: false }, { layout: 'wide' })
      const keys = new BatchKeys()
      return batches.map(batch => [...encodeLines([linesOf(plan, batch, keys)])])
    }
    await refuseWhatIsThere(server, tables)
    const [[build]] = await own.query('SELECT build()')
    return {
      version: /QuestDB [\d.]+/.exec(build)?.[0] ?? 'QuestDB',
      settings: await settingsOf(async () => /** @type {any} */ (await own.query(SETTINGS))),
      address,
      watched: server.watched,
      clear,
      async count () {
        let count = 0
        for (const name of await tables()) {
          if (name === 'sluice_commits') continue
          await own.settled(name)
          count += Number((await own.query(`SELECT count() FROM "${name}"`))[0][0])
        }
        return count
      },
      loader: {
        name: `the same lines, prepared: a request a batch, ${REQUESTS_AT_ONCE} at once`,
        run: async batches => send(await requestsOf(batches), REQUESTS_AT_ONCE)
      },
      naive: {
        name: `a request a row, ${NAIVE_AT_ONCE} at once`,
        rows: 2000,
        async run (batches) {
          const rows = batches.flatMap(batch => Array.from({ length: batch.rows }, (_, row) => batch.slice(row, row + 1)))
          return send(await requestsOf(rows), NAIVE_AT_ONCE)
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
