import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import driver from 'cassandra-driver'
import { makeCertificates } from './certificates.js'
import { cassandra, missingJava } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real Cassandra on 127.0.0.1, in a folder of its own, that syncs what it acknowledges.
 *
 * @typedef {object} Place  of one node of several
 * @property {string} host
 * @property {number} port
 * @property {number} storagePort
 * @property {string} seeds
 * @property {bigint} token
 *
 * @typedef {object} CassandraServer
 * @property {string} host
 * @property {number} port
 * @property {string} user  empty where it asks for no login
 * @property {string} password
 * @property {string} ca  path of the authority's certificate, where the server has TLS
 * @property {string} folder
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`, where it has a `dir`
 * @property {() => Promise<void>} stop  shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

/** What Cassandra reaches into that modern Java keeps to itself. */
const EXPORTS = [
  ...['jdk.internal.misc', 'jdk.internal.ref', 'sun.nio.ch', 'java.lang.ref'].map(name => `java.base/${name}`),
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  ...['registry', 'server', 'transport.tcp'].map(name => `java.rmi/sun.rmi.${name}`),
  'java.sql/java.sql'
]
const OPENS = [
  ...['lang.module', 'io', 'lang', 'nio', 'util', 'util.concurrent', 'util.concurrent.atomic', 'net'].map(name => `java.base/java.${name}`),
  ...['loader', 'ref', 'reflect', 'math', 'module', 'util.jar'].map(name => `java.base/jdk.internal.${name}`),
  'java.base/sun.nio.ch', 'jdk.management/com.sun.management.internal'
]

const LOGBACK = `<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%level %msg%n</pattern></encoder></appender><root level="WARN"><appender-ref ref="out"/></root></configuration>
`

/** What is acknowledged is on the disk. */
const SYNC = 'commitlog_sync: batch'

/** It gives up after two seconds otherwise, and a busy machine takes longer. */
const PATIENCE = ['read', 'range', 'write', 'truncate'].map(what => `${what}_request_timeout: 60s`).join('\n')

/** What is missing for Cassandra, or null. */
export function missingCassandra () {
  return missingJava(cassandra)
}

/** The places on the ring at which the nodes of a cluster share it evenly. @param {number} index @param {number} count */
const tokenOf = (index, count) => BigInt.asIntN(64, 2n ** 63n + BigInt(index) * (2n ** 64n / BigInt(count)))

/**
 * A cluster of several, which have an address each, as the driver looks for all of them on one port.
 * @param {number} count
 * @returns {Promise<CassandraServer[]>} started
 */
export async function startCassandraCluster (count) {
  const [port, storagePort] = await Promise.all([freePort(), freePort()])
  const hosts = Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`)
  const seeds = hosts.map(host => `${host}:${storagePort}`).join(',')
  /** @type {CassandraServer[]} */
  const servers = []
  try {
    for (const [index, host] of hosts.entries()) {
      const dir = await mkdtemp(join(tmpdir(), 'sluice-cassandra-'))
      servers.push(await startCassandra({ dir, place: { host, port, storagePort, seeds, token: tokenOf(index, count) } }))
    }
  } catch (error) {
    for (const server of servers) await server.remove()
    throw error
  }
  return servers
}

/**
 * @param {{dir?: string, tls?: boolean, login?: boolean, isMeasured?: boolean, settings?: string, place?: Place}} [options]  `dir` must be
 *   empty or the folder of an earlier server, and makes it safe against `kill`; `tls` makes it take encrypted connections only; `login`
 *   makes it ask for one; `isMeasured` gives it more memory; `settings` are more lines of its configuration, which say how it syncs;
 *   `place`: it is one of several
 * @returns {Promise<CassandraServer>} started
 */
export async function startCassandra ({ dir, tls = false, login = false, isMeasured = false, settings = SYNC, place } = {}) {
  const missing = missingCassandra()
  if (missing) throw new Error(`Cassandra: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-cassandra-'))
  const jmxPort = await freePort()
  const host = place?.host ?? '127.0.0.1'
  const [port, storagePort] = place ? [place.port, place.storagePort] : await Promise.all([freePort(), freePort()])
  const certificates = tls ? makeCertificates(folder) : null
  const data = join(folder, 'data')
  await mkdir(data, { recursive: true })
  if (certificates) {
    const { key, cert } = certificates.server
    // Java reads no other kind of key.
    const pkcs8 = execFileSync('openssl', ['pkcs8', '-topk8', '-nocrypt', '-in', key], { encoding: 'utf8' })
    await writeFile(join(folder, 'server.pem'), pkcs8 + await readFile(cert, 'utf8') + await readFile(certificates.ca, 'utf8'))
  }
  const [config, logback] = ['cassandra.yaml', 'logback.xml'].map(name => join(folder, name))
  await writeFile(logback, LOGBACK)
  await writeFile(config, `
cluster_name: tests
num_tokens: 1
${place ? `initial_token: ${place.token}\nauto_bootstrap: false` : ''}
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
key_cache_size: 8MiB
file_cache_size: 32MiB
networking_cache_size: 16MiB
commitlog_segment_size: 8MiB
${settings}
${PATIENCE}
auto_snapshot: false
commitlog_directory: ${join(data, 'commitlog')}
data_file_directories: [${join(data, 'data')}]
saved_caches_directory: ${join(data, 'caches')}
hints_directory: ${join(data, 'hints')}
cdc_raw_directory: ${join(data, 'cdc')}
listen_address: ${host}
rpc_address: ${host}
storage_port: ${storagePort}
native_transport_port: ${port}
start_native_transport: true
endpoint_snitch: SimpleSnitch
authenticator: ${login ? 'PasswordAuthenticator' : 'AllowAllAuthenticator'}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: "${place?.seeds ?? `127.0.0.1:${storagePort}`}"}]
${certificates
  ? `client_encryption_options:
  enabled: true
  optional: false
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
  keystore: ${join(folder, 'server.pem')}`
  : ''}
`)
  const server = machine(cassandra, {
    main: 'org.apache.cassandra.service.CassandraDaemon',
    options: [
      ...EXPORTS.map(name => `--add-exports=${name}=ALL-UNNAMED`),
      ...OPENS.map(name => `--add-opens=${name}=ALL-UNNAMED`),
      '-Djdk.attach.allowAttachSelf=true',
      isMeasured ? '-Xms512m' : '-Xms256m',
      '-Xmx1g', // the suites have some hundred tables, each of which takes its share
      '-XX:MaxDirectMemorySize=192m',
      `-Dlogback.configurationFile=file://${logback}`,
      `-Dcassandra.config=file://${config}`,
      `-Dcassandra.storagedir=${data}`,
      '-Dcassandra-foreground=yes',
      `-Dcassandra.jmx.local.port=${jmxPort}`,
      '-Dcassandra.ring_delay_ms=100',
      '-Dcassandra.skip_wait_for_gossip_to_settle=0',
      '-Dcassandra.superuser_setup_delay_ms=0',
      // A table takes a quarter of the time; but a server that is killed forgets those that it made last, with their rows.
      ...dir ? [] : ['-Dcassandra.test.flush_local_schema_changes=false']
    ],
    folder,
    host,
    port,
    isMeasured
  })
  const access = { user: login ? 'cassandra' : '', password: login ? 'cassandra' : '', ca: certificates?.ca ?? '' }
  const start = async () => {
    await server.start()
    if (login) await letIn(port, access)
  }
  await start()
  return {
    host,
    port,
    ...access,
    folder,
    get pid () { return server.pid },
    start,
    stop: server.stop,
    kill: server.kill,
    async remove () {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/**
 * It makes its first user only after it has begun to answer.
 * @param {number} port
 * @param {{user: string, password: string, ca: string}} access
 */
async function letIn (port, { user, password, ca }) {
  for (let patience = 300; ; patience--) {
    const client = new driver.Client({
      contactPoints: ['127.0.0.1'],
      localDataCenter: 'datacenter1',
      protocolOptions: { port },
      authProvider: new driver.auth.PlainTextAuthProvider(user, password),
      ...ca && { sslOptions: { ca: [await readFile(ca)] } }
    })
    try {
      return await client.connect()
    } catch (error) {
      if (patience === 0) throw error
      await sleep(200)
    } finally {
      await client.shutdown()
    }
  }
}
