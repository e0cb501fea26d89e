import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { quote } from '../../databases/mysql/dialect.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'
import { makeTable } from './open.js'

/**
 * @typedef {import('./sink-bench.js').Running} Running
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../servers.js').Server} Server
 */

const PROGRAM = 'mariadb'

const SETTINGS = [
  'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'sync_binlog', 'log_bin', 'innodb_buffer_pool_size', 'innodb_log_file_size'
]

/** As many as node-red-node-mysql has. */
const NAIVE_CONNECTIONS = 50

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'MariaDB, primary key by time',
  missing: servers => servers('mysql').missing(),
  goalRowsPerSecond: 743_000,
  async start (folder, servers) {
    const server = await servers('mysql').start({ folder })
    const { host, port, user, password, database } = server
    const login = { host, port, user, password, database }
    const client = await mysql.createConnection(login)
    const [[{ version }]] = /** @type {[any[], any]} */ (await client.query('SELECT VERSION() AS version'))

    const address = { type: 'mysql', options: {}, login }
    const tables = async () => {
      const [rows] = /** @type {[any[], any]} */ (await client.query('SHOW TABLES'))
      return rows.map(row => String(Object.values(row)[0]))
    }
    const clear = async () => {
      for (const table of await tables()) await client.query(`DROP TABLE ${quote(table)}`)
    }
    await refuseWhatIsThere(server, tables)

    return {
      version: `${version.includes('MariaDB') ? 'MariaDB' : 'MySQL'} ${/^[\d.]+/.exec(version)?.[0]}`,
      settings: await settingsOf(async () => {
        const [rows] = /** @type {[any[], any]} */ (await client.query('SHOW VARIABLES WHERE Variable_name IN (?)', [SETTINGS]))
        return rows.map(({ Variable_name: name, Value: value }) => [name, value])
      }),
      address,
      watched: server.watched,
      clear,
      async count () {
        const names = (await tables()).filter(name => name !== 'sluice_commits')
        const counts = await Promise.all(names.map(async name => {
          const [[{ count }]] = /** @type {[any[], any]} */ (await client.query(`SELECT COUNT(*) AS count FROM ${quote(name)}`))
          return count
        }))
        return counts.reduce((sum, each) => sum + each, 0)
      },
      loader: {
        name: 'mariadb, LOAD DATA LOCAL INFILE',
        async run (batches) {
          await makeTable(address, batches[0])
          const table = quote(batches[0].source)
          const file = join(folder, 'rows.tsv')
          await writeFile(file, batches.map(text))
          return loadFile(server, file, table)
        }
      },
      naive: {
        name: 'an INSERT a message, as node-red-node-mysql',
        rows: 5000,
        async run (batches) {
          await makeTable(address, batches[0])
          const table = quote(batches[0].source)
          const pool = mysql.createPool({ ...login, connectionLimit: NAIVE_CONNECTIONS })
          await Promise.all(Array.from({ length: NAIVE_CONNECTIONS }, () => pool.query('SELECT 1')))
          const start = performance.now()
          await Promise.all(batches.flatMap(({ time, columns: [sensor, value] }) => Array.from(time, (each, row) =>
            pool.query(`INSERT INTO ${table} (time_ns, sensor, value) VALUES (?, ?, ?)`, [each, sensor[row], value[row]]))))
          const seconds = (performance.now() - start) / 1000
          await pool.end()
          return seconds
        }
      },
      async remove () {
        if (!server.remove) await clear()
        await client.end()
        await server.remove?.()
      }
    }
  }
}

/** @param {Batch} batch  of time, sensor and value */
function text ({ time, columns: [sensor, value] }) {
  return Array.from(time, (each, row) => `${each}\t${sensor[row]}\t${value[row]}\n`).join('')
}

/**
 * @param {Server} server
 * @param {string} file
 * @param {string} table  quoted
 * @returns {Promise<number>} seconds, without the start of the program
 */
async function loadFile ({ host, port, user, password, database }, file, table) {
  const clock = 'SELECT UNIX_TIMESTAMP(SYSDATE(6))'
  const load = `LOAD DATA LOCAL INFILE '${file}' INTO TABLE ${table} CHARACTER SET utf8mb4 (time_ns, sensor, value)`
  const args = ['--no-defaults', `--host=${host}`, `--port=${port}`, `--user=${user}`, '--local-infile', '--skip-column-names',
    `--execute=${clock}; ${load}; ${clock}`, database]
  const child = spawn(PROGRAM, args, { env: { ...process.env, MYSQL_PWD: password }, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', part => { output += part })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${PROGRAM} ended with ${code}`)
  const [from, to] = output.trim().split('\n').map(Number)
  return to - from
}
