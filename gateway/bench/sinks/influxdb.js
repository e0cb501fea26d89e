import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { InfluxDB } from 'influx'
import { manyAtOnce } from '../../base/many-at-once.js'
import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { connect } from '../../databases/influxdb/connection.js'
import { quote } from '../../databases/names.js'
import { refuseWhatIsThere } from '../empty.js'
import { settingsOf } from '../settings.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{host: string, port: number, user: string, password: string, database: string}} Login
 */

const SETTINGS = ['wal-fsync-delay', 'cache-max-memory-size', 'cache-snapshot-memory-size', 'index-version']

/** Requests of the naive way under way at once: of more, the server under load gives some up. */
const NAIVE_AT_ONCE = 100

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'InfluxDB, wide: a series per sensor, which is a tag',
  note: 'a row is one point of one field; fields of wide rows are stored several times as fast',
  goalRowsPerSecond: 790_000,
  missing: servers => servers('influxdb').missing(),
  async start (folder, servers) {
    const server = await servers('influxdb').start({ folder })
    const { host, port, user, password, database } = server
    const login = { host, port, user, password, database }
    const own = connect(login)
    const create = () => own.query(`CREATE DATABASE ${quote(database)}`) // one that is there already stays as it is
    const clear = async () => {
      await own.query(`DROP DATABASE ${quote(database)}`)
      await create()
    }
    await create()
    const measurements = async () => {
      const series = await own.query('SHOW MEASUREMENTS', { database })
      return series.flatMap(({ values }) => values.map(([name]) => String(name)))
    }
    await refuseWhatIsThere(server, measurements)
    const [{ columns, values: [build] }] = await own.query('SHOW DIAGNOSTICS FOR \'build\'')
    return {
      version: `InfluxDB ${build[columns.indexOf('Version')]}`,
      settings: await settingsOf(async () => {
        const [config] = await own.query('SHOW DIAGNOSTICS FOR \'config-data\'')
        return SETTINGS.filter(name => config.columns.includes(name)).map(name => [name, config.values[0][config.columns.indexOf(name)]])
      }),
      address: { type: 'influxdb', options: { tagFields: 'sensor' }, login },
      watched: server.watched,
      clear,
      async count () {
        const series = await own.query('SELECT count("value") FROM /.*/', { database })
        return series.reduce((sum, { values: [[, count]] }) => sum + Number(count), 0)
      },
      loader: { name: 'influx -import', run: batches => importLines(login, batches, join(folder, 'lines')) },
      naive: { name: 'node-influx, a point a message', rows: 2000, run: batches => writePoints(login, batches) },
      async remove () {
        if (!server.remove) await clear()
        await own.close()
        await server.remove?.()
      }
    }
  }
}

/** The lines that the sink sends. @param {Batch[]} batches @param {string} database */
function * linesOf (batches, database) {
  yield `# DML\n# CONTEXT-DATABASE: ${database}\n`
  yield * encodeLines(batches.map(batch => ({
    batch,
    tags: [{ name: 'gateway', value: 'bench' }, { name: 'sensor', field: 0 }],
    fields: [{ name: 'value', field: 1, kind: 'float' }]
  })))
}

/** @param {Login} login @param {Batch[]} batches @param {string} file */
async function importLines ({ host, port, user, password, database }, batches, file) {
  await pipeline(linesOf(batches, database), createWriteStream(file))
  const start = performance.now()
  const child = spawn('influx', ['-host', host, '-port', String(port), '-import', '-path', file, '-precision', 'ns'],
    { env: { ...process.env, INFLUX_USERNAME: user, INFLUX_PASSWORD: password }, stdio: ['ignore', 'ignore', 'pipe'] })
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
async function writePoints ({ host, port, user, password, database }, batches) {
  const influx = new InfluxDB({ host, port, username: user, password, database })
  const messages = batches.flatMap(({ source, time, columns: [sensors, values] }) => Array.from(time, (nanoseconds, row) => ({
    measurement: source, tags: { sensor: String(sensors[row]) }, fields: { value: values[row] }, timestamp: String(nanoseconds)
  })))
  const start = performance.now()
  await manyAtOnce(NAIVE_AT_ONCE, messages, point => influx.writePoints([point], { precision: 'n' }))
  return (performance.now() - start) / 1000
}
