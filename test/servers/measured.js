import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { missingCassandra, startCassandra } from './cassandra.js'
import { missingQuestdb, startQuestdb } from './questdb.js'
import { missingWarp10, startWarp10 } from './warp10.js'
import { missingClickhouse, missingOldClickhouse, startClickhouse, startOldClickhouse } from './clickhouse.js'
import { flinkCommand, missingFlink } from './engines/flink.js'
import { missingSpark, sparkCommand, sparkEnvironment, sparkScript } from './engines/spark.js'
import { missingHbase, startHbase } from './hbase.js'
import { missingInfluxdb, startInfluxdb } from './influxdb.js'
import { jarsOf, kafka } from './java/jars.js'
import { missingKafka, startKafka } from './kafka.js'
import { missingMariadb, startMariadb } from './mariadb.js'
import { missingMongodb, startMongodb } from './mongodb.js'
import { missingMosquitto, startMosquitto } from './mosquitto.js'
import { missingVoltdb, startVoltdb } from './voltdb.js'
import { postgresqlPrograms, startPostgresql } from './postgresql.js'

const host = '127.0.0.1'

const JAVA = ['java', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp']

/** What rows of a second or two need, so that no side waits for the disk more than for its commits. */
const MARIADB_MEMORY = ['--innodb-buffer-pool-size=512M', '--innodb-log-file-size=512M']

/** An engine has a thread for each. */
const MAX_CLIENTS = 256

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
      return { ...server, url: `postgresql://${host}:${server.port}/`, host, watched: watched(server, server.data) }
    }
  },
  mysql: {
    missing: missingMariadb,
    async start ({ folder }) {
      const server = await startMariadb({ dir: await subfolder(folder, 'mariadb'), options: MARIADB_MEMORY })
      return { ...server, url: `mysql://${host}:${server.port}/`, host, watched: watched(server, server.data) }
    }
  },
  mongodb: {
    missing: missingMongodb,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'mongodb')
      const server = await startMongodb({ dir })
      const { url, port, remove } = server
      const programs = { get pid () { return [server.pid, server.postgresqlPid].filter(pid => pid !== undefined) }, folder: dir }
      return { url, host, port, user: '', password: '', database: 'bench', remove, watched: programs }
    }
  },
  influxdb: {
    missing: missingInfluxdb,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'influxdb')
      const server = await startInfluxdb({ dir })
      const { port, user, password, stop, start, remove } = server
      const access = { url: `http://${host}:${port}/`, host, port, user, password, database: 'bench' }
      return { ...access, stop, start, remove, watched: watched(server, dir) }
    }
  },
  cassandra: {
    missing: missingCassandra,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'cassandra')
      const server = await startCassandra({ dir, isMeasured: true })
      const { port, user, password, stop, start, remove } = server
      const access = { url: `cassandra://${host}:${port}/`, host, port, user, password, database: 'bench' }
      return { ...access, stop, start, remove, watched: watched(server, dir) }
    }
  },
  questdb: {
    missing: missingQuestdb,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'questdb')
      const server = await startQuestdb({ dir, isMeasured: true })
      const { port, user, password, stop, start, remove } = server
      const access = { url: `http://${host}:${port}/`, host, port, user, password, database: '' }
      return { ...access, stop, start, remove, watched: watched(server, dir) }
    }
  },
  voltdb: {
    missing: missingVoltdb,
    async start () {
      const server = await startVoltdb({ isMeasured: true })
      const { port, user, password, remove } = server
      const access = { url: `voltdb://${host}:${port}`, host, port, user, password, database: '' }
      return { ...access, remove, watched: { get pid () { return server.pid } } }
    }
  },
  warp10: {
    missing: missingWarp10,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'warp10')
      const server = await startWarp10({ dir, isMeasured: true })
      const { port, tokens: [{ writeToken, readToken }], stop, start, remove } = server
      const access = { url: `http://${host}:${port}/`, host, port, user: writeToken, password: readToken, database: '' }
      return { ...access, stop, start, remove, watched: watched(server, dir) }
    }
  },
  hbase: {
    missing: missingHbase,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'hbase')
      const server = await startHbase({ dir, isMeasured: true })
      const { port, stop, start, remove } = server
      const access = { url: `http://${host}:${port}/`, host, port, user: '', password: '', database: 'bench' }
      return { ...access, stop, start, remove, watched: { get pid () { return server.pids }, folder: dir } }
    }
  },
  kafka: {
    missing: missingKafka,
    async start ({ folder }) {
      const dir = await subfolder(folder, 'kafka')
      const server = await startKafka({ dir, isMeasured: true })
      const { port, user, password, stop, start, remove } = server
      const access = { url: `kafka://${host}:${port}/`, host, port, user, password, database: '' }
      const program = { command: [...JAVA, jarsOf(kafka), 'org.apache.kafka.tools.ProducerPerformance'], environment: {} }
      return { ...access, stop, start, remove, watched: watched(server, dir), program }
    }
  },
  flink: {
    missing: missingFlink,
    start: async ({ folder }) => engine(flinkCommand('sluice.study.Weissbach', { temporary: folder, options: ['-Xmx768m'] }))
  },
  spark: {
    missing: missingSpark,
    async start ({ folder }) {
      return engine([...sparkCommand({ temporary: folder, threads: MAX_CLIENTS }), sparkScript('weissbach')], sparkEnvironment)
    }
  },
  clickhouse: { missing: missingClickhouse, start: async () => clickhouse(await startClickhouse()) },
  'clickhouse-old': { missing: missingOldClickhouse, start: async () => clickhouse(await startOldClickhouse()) }
}

/** One that is no server, but a program. @param {string[]} command @param {Record<string, string>} [environment] */
function engine (command, environment = {}) {
  return { url: '', host, port: 0, user: '', password: '', database: '', program: { command, environment } }
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
  const access = { url: `http://${host}:${port}/`, host, port, nativePort, user, password, database }
  return {
    ...access, stop: () => server.stop(), start: () => server.start(), remove: () => server.remove(), watched: watched(server, server.data)
  }
}

/** Its process as it is when it is asked: it may be started again. @param {{pid: number|undefined}} server @param {string} folder */
function watched (server, folder) {
  return { get pid () { return server.pid }, folder }
}
