import { join } from 'node:path'
import pg from 'pg'
import { openPostgresql } from '../postgresql-server.js'
import { runPsql } from '../postgresql.js'
import { settingsOf } from '../settings.js'
import { makeTable, openSink } from './open.js'

/** As many as node-red-contrib-postgresql has. */
const NAIVE_CONNECTIONS = 10

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes', 'wal_level', 'shared_buffers', 'wal_buffers', 'max_wal_size']

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'PostgreSQL, index on time',
  goalRowsPerSecond: 400_000,
  missing: servers => servers('postgresql').missing(),
  async start (folder, servers) {
    const { login, watched, query, tables, clear, remove } = await openPostgresql(servers, folder)
    const psql = (/** @type {string[]} */ ...commands) => runPsql(login, commands)
    const { rows: [{ server_version: version }] } = await query('SHOW server_version')

    const address = { type: 'postgresql', options: {}, login }

    return {
      version: `PostgreSQL ${version.split(' ')[0]}`,
      settings: await settingsOf(async () => {
        const { rows } = await query('SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name', [SETTINGS])
        return rows.map(({ name, value }) => [name, value])
      }),
      address,
      watched,
      async clear () {
        await clear()
        await query('CHECKPOINT')
      },
      async count () {
        let count = 0
        for (const table of await tables()) {
          if (table !== 'sluice_commits') count += Number((await query(`SELECT count(*) AS count FROM "${table}"`)).rows[0].count)
        }
        return count
      },
      loader: {
        name: 'psql, \\copy … (FORMAT binary)',
        async run (batches) {
          const { sink, close } = await openSink(address, 1)
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
          await makeTable(address, batches[0])
          const table = `"${batches[0].source}"`
          const pool = new pg.Pool({ ...login, max: NAIVE_CONNECTIONS })
          await Promise.all(Array.from({ length: NAIVE_CONNECTIONS }, () => pool.query('SELECT 1')))
          const start = performance.now()
          const insert = `INSERT INTO ${table} (time, time_ns, sensor, value) VALUES (to_timestamp($1::bigint / 1e9), $1, $2, $3)`
          await Promise.all(batches.flatMap(({ time, columns: [sensor, value] }) =>
            Array.from(time, (ns, row) => pool.query(insert, [String(ns), sensor[row], value[row]]))))
          const seconds = (performance.now() - start) / 1000
          await pool.end()
          return seconds
        }
      },
      remove
    }
  }
}
