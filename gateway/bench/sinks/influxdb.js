import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { InfluxDB } from 'influx'
import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { open } from '../../databases/influxdb/sink.js'
import { connect } from '../../databases/influxdb/connection.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{port: number, user: string, password: string, database: string}} Login
 */

const DATABASE = 'bench'

/** Requests of the naive way under way at once: of more, the server under load gives some up. */
const NAIVE_AT_ONCE = 100

const { missingInfluxdb, startInfluxdb } = await import('../../../test/servers/influxdb.js')
const { findProgram } = await import('../../../test/servers/programs.js')

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'InfluxDB, wide: a series per sensor, which is a tag',
  note: 'a row is one point of one field; fields of wide rows are stored several times as fast',
  goalRowsPerSecond: 790_000,
  missing: () => missingInfluxdb() ?? (findProgram('influx') ? null : 'influx, its client, is not on the PATH'),
  async start (folder) {
    const dir = join(folder, 'influxdb')
    await mkdir(dir, { recursive: true })
    const server = await startInfluxdb({ dir })
    const { port, user, password } = server
    const login = { port, user, password, database: DATABASE }
    await server.query(`CREATE DATABASE "${DATABASE}"`)
    return {
      version: `InfluxDB ${await server.version()}`,
      async open (connections) {
        const connected = connect({ ...login, connections })
        const sink = await open({ tagFields: 'sensor' }, { server: connected })
        return {
          sink,
          async close () {
            await sink.close()
            await connected.close()
          }
        }
      },
      async clear () {
        await server.query(`DROP DATABASE "${DATABASE}"`)
        await server.query(`CREATE DATABASE "${DATABASE}"`)
      },
      async count () {
        const { series = [] } = await server.query('SELECT count("value") FROM /.*/', { db: DATABASE })
        return series.reduce((/** @type {number} */ sum, /** @type {{values: number[][]}} */ { values: [[, count]] }) => sum + count, 0)
      },
      loader: { name: 'influx -import', run: batches => importLines(login, batches, join(folder, 'lines')) },
      naive: { name: 'node-influx, a point a message', rows: 2000, run: batches => writePoints(login, batches) },
      remove: () => server.remove()
    }
  }
}

/** The lines that the sink sends. @param {Batch[]} batches */
function * linesOf (batches) {
  yield `# DML\n# CONTEXT-DATABASE: ${DATABASE}\n`
  yield * encodeLines(batches.map(batch => ({ batch, tags: [{ name: 'gateway', value: 'bench' }, { name: 'sensor', field: 0 }], fields: [{ name: 'value', field: 1, kind: 'float' }] })))
}

/** @param {Login} login @param {Batch[]} batches @param {string} file */
async function importLines ({ port, user, password }, batches, file) {
  await pipeline(linesOf(batches), createWriteStream(file))
  const start = performance.now()
  const child = spawn('influx', ['-host', '127.0.0.1', '-port', String(port), '-username', user, '-password', password, '-import', '-path', file, '-precision', 'ns'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', text => { errors = (errors + text).slice(-1000) })
  const [code] = await once(child, 'close')
  const seconds = (performance.now() - start) / 1000
  await rm(file)
  if (code !== 0) throw new Error(`influx -import ended with ${code}: ${errors}`)
  return seconds
}

/**
 * As node-red-contrib-influxdb does it: a request a message, without waiting for the one before.
 * @param {Login} login
 * @param {Batch[]} batches
 */
async function writePoints ({ port, user, password, database }, batches) {
  const influx = new InfluxDB({ host: '127.0.0.1', port, username: user, password, database })
  const messages = batches.flatMap(({ source, time, columns: [sensors, values] }) => Array.from(time, (nanoseconds, row) => ({
    measurement: source, tags: { sensor: String(sensors[row]) }, fields: { value: values[row] }, timestamp: String(nanoseconds)
  }))).values()
  const start = performance.now()
  await Promise.all(Array.from({ length: NAIVE_AT_ONCE }, async () => {
    for (const point of messages) await influx.writePoints([point], { precision: 'n' })
  }))
  return (performance.now() - start) / 1000
}
