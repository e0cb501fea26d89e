import { InfluxdbStore } from '../stores/influxdb.js'

export const title = 'InfluxDB'

const DATABASE = 'chaos'

export async function missing () {
  const { missingInfluxdb } = await import('../../servers/influxdb.js')
  return missingInfluxdb() && 'InfluxDB is not installed. On Debian: apt-get install influxdb'
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startInfluxdb } = await import('../../servers/influxdb.js')
  const server = await startInfluxdb({ dir: folder })
  const { port, user, password } = server
  await server.query(`CREATE DATABASE ${DATABASE}`)
  return {
    type: 'influxdb',
    sink: {},
    server: { host: '127.0.0.1', port, database: DATABASE },
    credentials: { user, password },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: async () => new InfluxdbStore(statement => server.query(statement, { db: DATABASE })),
    stop: () => server.stop()
  }
}
