import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@clickhouse/client'
import { open } from '../../databases/clickhouse/sink.js'
import { nativeBlock } from '../../databases/clickhouse/native.js'
import { identifier } from '../../databases/clickhouse/quote.js'
import { connect } from '../../databases/clickhouse/connection.js'
import { readTable } from '../../databases/clickhouse/tables.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../../../test/servers/clickhouse.js').ClickhouseServer} TestServer
 * @typedef {(server: TestServer, sql: string, file: string) => Promise<number>} Load  of a file of Native blocks; seconds
 */

/** The columns of the rows, in their own types: those that hold the identity take their default. */
const COLUMNS = ['time', 'time_ns', 'sensor', 'value']

const NAIVE = 'an insert a message (@clickhouse/client)'

/** @type {import('./sink-bench.js').SinkBench[]} */
export const bench = [
  {
    title: 'ClickHouse, sorted by time',
    note: 'The loader makes parts of a million rows and is acknowledged once; each of our batches is a part, with its own fsync.',
    goalRowsPerSecond: 1_300_000,
    missing: async () => (await servers()).missingClickhouse(),
    start: async folder => running(await (await servers()).startClickhouse(), folder, 'HTTP, Native (curl)', curlLoad)
  },
  {
    title: 'ClickHouse 18.16, sorted by time',
    note: 'The loader makes parts of a million rows and is acknowledged once; each of our batches is a part.',
    goalRowsPerSecond: 1_300_000,
    missing: async () => (await servers()).missingOldClickhouse(),
    start: async folder => running(await (await servers()).startOldClickhouse(), folder, 'clickhouse-client, Native', clientLoad)
  }
]

function servers () {
  return import('../../../test/servers/clickhouse.js')
}

/**
 * @param {TestServer} server
 * @param {string} folder
 * @param {string} loader
 * @param {Load} load
 * @returns {Promise<import('./sink-bench.js').Running>}
 */
async function running (server, folder, loader, load) {
  const { port, user, password, database } = server
  const login = { port, user, password, database }
  const own = connect(login)
  const { version } = await own.dialect()
  const tables = async () => (await own.query('SELECT name FROM system.tables WHERE database = currentDatabase()')).map(([name]) => String(name))

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
  /** The table as our sink makes it. @param {Batch[]} batches */
  const makeTable = async ([batch]) => {
    const { sink, close } = await openSink(1)
    await sink.prepare([batch])
    await close()
    return batch.source
  }

  return {
    version: `ClickHouse ${version}`,
    open: openSink,
    async clear () {
      for (const table of await tables()) await own.command(`DROP TABLE ${identifier(table)}`)
    },
    async count () {
      let count = 0
      for (const table of await tables()) if (table !== 'sluice_commits') count += Number((await own.query(`SELECT count() FROM ${identifier(table)}`))[0][0])
      return count
    },
    loader: {
      name: loader,
      async run (batches) {
        const table = await makeTable(batches)
        const { columns } = await readTable(own, table)
        const its = columns.filter(({ name }) => COLUMNS.includes(name)).map(({ name, kind }) =>
          name.startsWith('time') ? { name, kind, type: /** @type {any} */ (name), origin: /** @type {const} */ ('time') }
            : { name, kind, type: /** @type {any} */ ('float64'), origin: /** @type {const} */ ('field'), field: name === 'sensor' ? 0 : 1 })
        const file = join(folder, 'rows')
        await writeFile(file, batches.map(batch => nativeBlock(its, [{ batch, epoch: 0n, seq: 0 }])))
        const seconds = await load(server, `INSERT INTO ${identifier(table)} (${its.map(({ name }) => identifier(name)).join(', ')}) FORMAT Native`, file)
        await rm(file)
        return seconds
      }
    },
    naive: {
      name: NAIVE,
      rows: 1000,
      run: async batches => insertRows(login, await makeTable(batches), batches)
    },
    async remove () {
      await own.close()
      await server.remove()
    }
  }
}

/** @type {Load} */
async function curlLoad ({ port, user, password, database }, sql, file) {
  const url = `http://127.0.0.1:${port}/?${new URLSearchParams({ database, query: sql })}`
  const { stdout } = await promisify(execFile)('curl', ['-sS', '--fail-with-body', '-H', `X-ClickHouse-User: ${user}`, '-H', `X-ClickHouse-Key: ${password}`, '-H', 'Expect:', '--data-binary', `@${file}`, '-w', '%{time_total}', url])
  return Number(stdout)
}

/** @type {Load} */
async function clientLoad ({ nativePort, user, password, database }, sql, file) {
  const args = ['--host', '127.0.0.1', '--port', String(nativePort), '--user', user, '--password', password, '--database', database, '--query', sql]
  const start = performance.now()
  const child = spawn('clickhouse-client', args, { stdio: ['pipe', 'ignore', 'inherit'] })
  createReadStream(file, { highWaterMark: 1024 * 1024 }).pipe(child.stdin)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`clickhouse-client ended with ${code}`)
  return (performance.now() - start) / 1000
}

/**
 * As a thin node does it: an insert a message, without waiting for the one before.
 * @param {{port: number, user: string, password: string, database: string}} login
 * @param {string} table
 * @param {Batch[]} batches
 */
async function insertRows ({ port, user, password, database }, table, batches) {
  const client = createClient({ url: `http://127.0.0.1:${port}`, username: user, password, database })
  const rows = batches.flatMap(({ time, columns: [sensor, value] }) => Array.from(time, (ns, row) => ({ time: Number(ns / 1_000_000_000n), sensor: sensor[row], value: value[row] })))
  const start = performance.now()
  await Promise.all(rows.map(row => client.insert({ table: identifier(table), values: [row], format: 'JSONEachRow' })))
  const seconds = (performance.now() - start) / 1000
  await client.close()
  return seconds
}
