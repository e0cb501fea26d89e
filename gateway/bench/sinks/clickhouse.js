import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@clickhouse/client'
import { nativeBlock } from '../../databases/clickhouse/native.js'
import { identifier } from '../../databases/clickhouse/quote.js'
import { connect } from '../../databases/clickhouse/connection.js'
import { readTable } from '../../databases/clickhouse/tables.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'
import { makeTable } from './open.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../servers.js').Server} Server
 * @typedef {(server: Server, sql: string, file: string) => Promise<number>} Load  of a file of Native blocks; seconds
 */

/** The columns of the rows, in their own types: those that hold the identity take their default. */
const COLUMNS = ['time', 'time_ns', 'sensor', 'value']

const SETTINGS = ['async_insert', 'max_insert_threads', 'max_memory_usage', 'max_threads']

const NAIVE = 'an insert a message (@clickhouse/client)'

/** @type {import('./sink-bench.js').SinkBench[]} */
export const bench = [
  {
    title: 'ClickHouse, sorted by time',
    note: 'The loader makes parts of a million rows and is acknowledged once; each of our batches is a part, with its own fsync.',
    goalRowsPerSecond: 1_300_000,
    missing: servers => servers('clickhouse').missing(),
    start: async (folder, servers) => running(await servers('clickhouse').start({ folder }), folder, 'HTTP, Native (curl)', curlLoad)
  },
  {
    title: 'ClickHouse 18.16, sorted by time',
    note: 'The loader makes parts of a million rows and is acknowledged once; each of our batches is a part.',
    goalRowsPerSecond: 1_300_000,
    missing: servers => servers('clickhouse-old').missing(),
    start: async (folder, servers) => {
      const server = await servers('clickhouse-old').start({ folder })
      return running(server, folder, 'clickhouse-client, Native', clientLoad)
    }
  }
]

/**
 * @param {Server} server
 * @param {string} folder
 * @param {string} loader
 * @param {Load} load
 * @returns {Promise<import('./sink-bench.js').Running>}
 */
async function running (server, folder, loader, load) {
  const { host, port, user, password, database } = server
  const login = { host, port, user, password, database }
  const own = connect(login)
  const { version } = await own.dialect()
  const tables = async () => {
    const rows = await own.query('SELECT name FROM system.tables WHERE database = currentDatabase()')
    return rows.map(([name]) => String(name))
  }
  const clear = async () => {
    for (const table of await tables()) await own.command(`DROP TABLE ${identifier(table)}`)
  }
  await refuseWhatIsThere(server, tables)

  const address = { type: 'clickhouse', options: {}, login }

  return {
    version: `ClickHouse ${version}`,
    settings: await settingsOf(async () => {
      const names = SETTINGS.map(name => `'${name}'`).join(', ')
      const rows = await own.query(`SELECT name, value FROM system.settings WHERE name IN (${names})`)
      return rows.map(([name, value]) => [String(name), value])
    }),
    address,
    watched: server.watched,
    clear,
    async count () {
      let count = 0
      for (const table of await tables()) {
        if (table !== 'sluice_commits') count += Number((await own.query(`SELECT count() FROM ${identifier(table)}`))[0][0])
      }
      return count
    },
    loader: {
      name: loader,
      async run (batches) {
        const [{ source: table }] = batches
        await makeTable(address, batches[0])
        const { columns } = await readTable(own, table)
        const its = columns.filter(({ name }) => COLUMNS.includes(name)).map(({ name, kind }) => {
          if (name.startsWith('time')) return { name, kind, type: /** @type {any} */ (name), origin: /** @type {const} */ ('time') }
          const field = name === 'sensor' ? 0 : 1
          return { name, kind, type: /** @type {any} */ ('float64'), origin: /** @type {const} */ ('field'), field }
        })
        const names = its.map(({ name }) => identifier(name)).join(', ')
        const file = join(folder, 'rows')
        await writeFile(file, batches.map(batch => nativeBlock(its, [{ batch, epoch: 0n, seq: 0, record: [] }])))
        const seconds = await load(server, `INSERT INTO ${identifier(table)} (${names}) FORMAT Native`, file)
        await rm(file)
        return seconds
      }
    },
    naive: {
      name: NAIVE,
      rows: 1000,
      async run (batches) {
        await makeTable(address, batches[0])
        return insertRows(server, batches)
      }
    },
    async remove () {
      if (!server.remove) await clear()
      await own.close()
      await server.remove?.()
    }
  }
}

/** @type {Load} */
async function curlLoad ({ url, user, password, database }, sql, file) {
  const to = `${url}?${new URLSearchParams({ database, query: sql })}`
  const args = ['-sS', '--fail-with-body', '-H', '@-', '--data-binary', `@${file}`, '-w', '%{time_total}', to]
  const posted = promisify(execFile)('curl', args)
  posted.child.stdin?.end(`X-ClickHouse-User: ${user}\nX-ClickHouse-Key: ${password}\nExpect:\n`)
  return Number((await posted).stdout)
}

/** @type {Load} */
async function clientLoad ({ host, nativePort, user, password, database }, sql, file) {
  const login = ['--host', host, '--port', String(nativePort), '--user', user, '--password', password, '--database', database]
  const start = performance.now()
  const child = spawn('clickhouse-client', [...login, '--query', sql], { stdio: ['pipe', 'ignore', 'inherit'] })
  createReadStream(file, { highWaterMark: 1024 * 1024 }).pipe(child.stdin)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`clickhouse-client ended with ${code}`)
  return (performance.now() - start) / 1000
}

/**
 * As a thin node does it: an insert a message, without waiting for the one before.
 * @param {Server} server
 * @param {Batch[]} batches
 */
async function insertRows ({ url, user, password, database }, batches) {
  const client = createClient({ url, username: user, password, database })
  const rows = batches.flatMap(({ time, columns: [sensor, value] }) =>
    Array.from(time, (ns, row) => ({ time: Number(ns / 1_000_000_000n), sensor: sensor[row], value: value[row] })))
  const start = performance.now()
  await Promise.all(rows.map(row => client.insert({ table: identifier(batches[0].source), values: [row], format: 'JSONEachRow' })))
  const seconds = (performance.now() - start) / 1000
  await client.close()
  return seconds
}
