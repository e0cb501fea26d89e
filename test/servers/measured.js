import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { missingClickhouse, missingOldClickhouse, startClickhouse, startOldClickhouse } from './clickhouse.js'
import { missingInfluxdb, startInfluxdb } from './influxdb.js'
import { missingMariadb, startMariadb } from './mariadb.js'
import { missingMongodb, startMongodb } from './mongodb.js'
import { missingMosquitto, startMosquitto } from './mosquitto.js'
import { postgresqlPrograms, startPostgresql } from './postgresql.js'

const host = '127.0.0.1'

/** What rows of a second or two need, so that no side waits for the disk more than for its commits. */
const MARIADB_MEMORY = ['--innodb-buffer-pool-size=512M', '--innodb-log-file-size=512M']

/** The servers of the tests for the benchmark of the engine. @type {Record<string, import('../../gateway/bench/servers.js').ServerType>} */
export const measuredServers = {
  mqtt: {
    missing: missingMosquitto,
    async start ({ conf }) {
      const mosquitto = await startMosquitto({ conf })
      const { url, port } = mosquitto
      return { url, host, port, user: '', password: '', database: '', remove: () => mosquitto.stop() }
    }
  },
  postgresql: {
    missing: () => postgresqlPrograms() ? null : 'PostgreSQL is not installed',
    async start () {
      const server = await startPostgresql()
      return { ...server, url: `postgresql://${host}:${server.port}/`, host }
    }
  },
  mysql: {
    missing: missingMariadb,
    async start ({ folder }) {
      const server = await startMariadb({ dir: await subfolder(folder, 'mariadb'), options: MARIADB_MEMORY })
      return { ...server, url: `mysql://${host}:${server.port}/`, host }
    }
  },
  mongodb: {
    missing: missingMongodb,
    async start ({ folder }) {
      const { url, port, remove } = await startMongodb({ dir: await subfolder(folder, 'mongodb') })
      return { url, host, port, user: '', password: '', database: 'bench', remove }
    }
  },
  influxdb: {
    missing: missingInfluxdb,
    async start ({ folder }) {
      const { port, user, password, remove } = await startInfluxdb({ dir: await subfolder(folder, 'influxdb') })
      return { url: `http://${host}:${port}/`, host, port, user, password, database: 'bench', remove }
    }
  },
  clickhouse: { missing: missingClickhouse, start: async () => clickhouse(await startClickhouse()) },
  'clickhouse-old': { missing: missingOldClickhouse, start: async () => clickhouse(await startOldClickhouse()) }
}

/** @param {string} folder @param {string} name */
async function subfolder (folder, name) {
  const path = join(folder, name)
  await mkdir(path)
  return path
}

/** @param {import('./clickhouse.js').ClickhouseServer} server @returns {import('../../gateway/bench/servers.js').Server} */
function clickhouse (server) {
  const { port, nativePort, user, password, database } = server
  return { url: `http://${host}:${port}/`, host, port, nativePort, user, password, database, remove: () => server.remove() }
}
