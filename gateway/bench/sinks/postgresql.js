import { join } from 'node:path'
import pg from 'pg'
import { open } from '../../databases/postgresql/sink.js'
import { connect } from '../../databases/postgresql/connection.js'
import { runPsql } from '../postgresql.js'

/** As many as node-red-contrib-postgresql has. */
const NAIVE_CONNECTIONS = 10

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'PostgreSQL, index on time',
  goalRowsPerSecond: 400_000,
  async missing () {
    const { postgresqlPrograms } = await import('../../../test/servers/postgresql.js')
    return postgresqlPrograms() ? null : 'PostgreSQL is not installed'
  },
  async start (folder) {
    const { postgresqlPrograms, startPostgresql } = await import('../../../test/servers/postgresql.js')
    const server = await startPostgresql()
    const { port, user, password, database } = server
    const login = { host: '127.0.0.1', port, user, password, database }
    const psql = (/** @type {string[]} */ ...commands) => runPsql(join(postgresqlPrograms() ?? '', 'psql'), server, commands)
    const client = new pg.Client(login)
    await client.connect()
    const { rows: [{ server_version: version }] } = await client.query('SHOW server_version')

    /** @param {number} connections */
    const openSink = async connections => {
      const connected = connect({ ...login, connections })
      const sink = await open({}, { server: connected })
      return {
        sink,
        async close () {
          await sink.close()
          await connected.close()
        }
      }
    }
    /** The table as our sink makes it. @param {import('../../batch/batch.js').Batch[]} batches */
    const makeTable = async ([batch]) => {
      const { sink, close } = await openSink(1)
      await sink.prepare([batch])
      await close()
      return `"${batch.source}"`
    }
    const tables = async () => (await client.query('SELECT tablename FROM pg_tables WHERE schemaname = \'public\'')).rows.map(({ tablename }) => String(tablename))

    return {
      version: `PostgreSQL ${version.split(' ')[0]}`,
      open: openSink,
      async clear () {
        for (const table of await tables()) await client.query(`DROP TABLE "${table}"`)
        await client.query('CHECKPOINT')
      },
      async count () {
        let count = 0
        for (const table of await tables()) if (table !== 'sluice_commits') count += Number((await client.query(`SELECT count(*) AS count FROM "${table}"`)).rows[0].count)
        return count
      },
      loader: {
        name: 'psql, \\copy … (FORMAT binary)',
        async run (batches) {
          const { sink, close } = await openSink(1)
          await sink.prepare([batches[0]])
          for (const batch of batches) await sink.write([batch])
          await close()
          const file = join(folder, 'rows')
          const table = `"${batches[0].source}"`
          await psql(`\\copy ${table} TO '${file}' (FORMAT binary)`, `TRUNCATE ${table}`, 'CHECKPOINT')
          const output = await psql('\\timing on', `\\copy ${table} FROM '${file}' (FORMAT binary)`)
          return Number(/Time: ([\d.]+) ms/.exec(output)?.[1]) / 1000
        }
      },
      naive: {
        name: 'an INSERT a message (node-red-contrib-postgresql)',
        rows: 5000,
        async run (batches) {
          const table = await makeTable(batches)
          const pool = new pg.Pool({ ...login, max: NAIVE_CONNECTIONS })
          await Promise.all(Array.from({ length: NAIVE_CONNECTIONS }, () => pool.query('SELECT 1')))
          const start = performance.now()
          await Promise.all(batches.flatMap(({ time, columns: [sensor, value] }) => Array.from(time, (ns, row) =>
            pool.query(`INSERT INTO ${table} (time, time_ns, sensor, value) VALUES (to_timestamp($1::bigint / 1e9), $1, $2, $3)`, [String(ns), sensor[row], value[row]]))))
          const seconds = (performance.now() - start) / 1000
          await pool.end()
          return seconds
        }
      },
      async remove () {
        await client.end()
        await server.remove()
      }
    }
  }
}
