import { RemoteMonitor } from '../stats/monitor/remote.js'
import { listenerOf } from './listening.js'

/**
 * The servers that are measured: the user's own, named by URL, or those that the caller of `bench` brings, as `npm run bench` does.
 *
 * @typedef {object} Server
 * @property {string} url  without the login
 * @property {string} host
 * @property {number} port
 * @property {string} user
 * @property {string} password
 * @property {string} database  an empty one
 * @property {number} [nativePort]  of clickhouse-client
 * @property {() => Promise<void>} [stop]  of one that the bench may stop
 * @property {() => Promise<void>} [start]  again
 * @property {() => Promise<void>} [remove]  of one that was started for the bench: what it stored is removed with it
 * @property {WatchedServer} [watched]  what of it can be watched
 * @property {EngineProgram} [program]  of an engine: what runs its part of a study; of Kafka: what measures its own producer
 *
 * @typedef {object} WatchedServer
 * @property {number|number[]} [pid]  of its first process, or of that of each program that it is made of, as they run now
 * @property {string} [folder]  of its data
 * @property {{monitor: import('../stats/monitor/usage.js').Monitor, name: string}} [remote]  instead, on another machine, where the
 *   process has that name, and the folder, too, or it is "data"
 *
 * @typedef {{command: string[], environment: Record<string, string>}} EngineProgram
 *
 * @typedef {object} ServerType
 * @property {() => string|null} missing  why there is no such server, null when there is one
 * @property {string} [cannotStop]  why the bench must not stop and start it
 * @property {(options: {folder: string, conf?: string[]}) => Promise<Server>} start  `folder` is empty; `conf` are Mosquitto's settings
 *
 * @typedef {(name: string) => ServerType} Servers
 */

/** What the command line takes, with the port where the URL names none, and what its process is called. */
const URLS = {
  mqtt: { example: 'mqtt://host:1883', port: 1883, program: /^mosquitto/ },
  postgresql: { example: 'postgresql://user:password@host:5432/database', port: 5432, program: /^postgres/ },
  mysql: { example: 'mysql://user:password@host:3306/database', port: 3306, program: /^(mariadb|mysql)d/ },
  mongodb: { example: 'mongodb://user:password@host:27017/database', port: 27017, program: /^(mongod|ferretdb)/ },
  influxdb: { example: 'http://user:password@host:8086/database', port: 8086, program: /^influxd/ },
  clickhouse: { example: 'http://user:password@host:8123/database', port: 8123, program: /^clickhouse/ },
  cassandra: { example: 'cassandra://user:password@host:9042/keyspace', port: 9042, program: /^java/ },
  hbase: { example: 'http://user:password@host:8080/namespace', port: 8080, program: /^java/ },
  questdb: { example: 'http://user:password@host:9000/', port: 9000, program: /^java/ },
  voltdb: { example: 'voltdb://user:password@host:21212', port: 21212, program: /^java/ },
  warp10: { example: 'http://writetoken:readtoken@host:8080/', port: 8080, program: /^java/ },
  kafka: { example: 'kafka://user:password@host:9092', port: 9092, program: /^java/ }
}

const HERE = ['127.0.0.1', '::1', 'localhost']

/** Of parseArgs. */
export const urlOptions = Object.fromEntries([...Object.keys(URLS), 'monitor'].map(name => {
  return [name, { type: /** @type {const} */ ('string') }]
}))

/** For the help. */
export const urlHelp = Object.entries(URLS).map(([name, { example }]) => `  --${name.padEnd(12)}${example}`).join('\n')

/**
 * @param {Record<string, unknown>} urls  by name, of the command line
 * @param {NodeJS.ProcessEnv} environment  SLUICE_BENCH_POSTGRESQL and so on are URLs, too
 * @param {Record<string, ServerType>} others  used where no URL is given
 * @returns {Servers}
 * @throws {Error} about a URL that cannot be used; it does not show its login
 */
export function serversOf (urls, environment, others) {
  const token = environment.SLUICE_MONITOR_TOKEN ?? ''
  const monitor = urls.monitor === undefined ? null : new RemoteMonitor({ url: String(urls.monitor), token })
  /** @type {Record<string, ServerType>} */
  const own = {}
  for (const [name, { example, port, program }] of Object.entries(URLS)) {
    const text = urls[name] ?? environment[`SLUICE_BENCH_${name.toUpperCase()}`]
    if (!text) continue
    const server = serverAt(String(text), { name, example, port })
    own[name] = ownServer({ ...server, watched: monitor ? { remote: { monitor, name } } : localServer(server, program) })
  }
  if (monitor && Object.keys(own).length === 0) throw new Error('--monitor goes with the URL of a server')
  return name => own[name] ?? others[name] ?? none(name)
}

/**
 * @param {string} text
 * @param {{name: string, example: string, port: number}} wanted
 * @returns {Server}
 */
function serverAt (text, { name, example, port }) {
  const url = URL.parse(text.replace(/^postgres:/, 'postgresql:'))
  const scheme = new URL(example).protocol
  const database = decodeURIComponent(url?.pathname.slice(1) ?? '')
  if (url?.protocol !== scheme) throw new Error(`--${name} must be a URL such as ${example}`)
  if (name === 'mqtt' && url.username) throw new Error('--mqtt must be a broker that asks for no login')
  const hasDatabases = new URL(example).pathname.length > 1
  if (hasDatabases && !database) throw new Error(`--${name} must name an empty database, as ${example} does`)
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = url.password = ''
  url.pathname = '/'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { url: String(url), host, port: Number(url.port) || port, user, password, database }
}

/** @param {Server} server @param {RegExp} program @returns {WatchedServer|undefined} */
function localServer ({ host, port }, program) {
  return HERE.includes(host) ? { get pid () { return listenerOf(port, program) } } : undefined
}

/** @param {Server} server @returns {ServerType} */
function ownServer (server) {
  const cannotStop = 'it stops the server for a minute, so it needs one of its own (npm run bench)'
  return { missing: () => null, cannotStop, start: async () => server }
}

/** @param {string} name @returns {ServerType} */
function none (name) {
  const missing = Object.hasOwn(URLS, name)
    ? `no server; name one with --${name} URL`
    : 'it is measured in the repository only (npm run bench)'
  return { missing: () => missing, start: () => Promise.reject(new Error(missing)) }
}
