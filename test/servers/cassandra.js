import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from './certificates.js'
import { cassandra, missingJava } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real Cassandra on 127.0.0.1, in a folder of its own, that syncs what it acknowledges.
 *
 * @typedef {object} CassandraServer
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

/**
 * @param {{dir?: string, tls?: boolean, login?: boolean, isMeasured?: boolean, settings?: string}} [options]  `dir` must be empty or the
 *   folder of an earlier server, and makes it safe against `kill`; `tls` makes it take encrypted connections only; `login` makes it ask
 *   for one; `isMeasured` gives it more memory; `settings` are more lines of its configuration, which say how it syncs
 * @returns {Promise<CassandraServer>} started
 */
export async function startCassandra ({ dir, tls = false, login = false, isMeasured = false, settings = SYNC } = {}) {
  const missing = missingCassandra()
  if (missing) throw new Error(`Cassandra: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-cassandra-'))
  const [port, storagePort, jmxPort] = await Promise.all([freePort(), freePort(), freePort()])
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
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: ${storagePort}
native_transport_port: ${port}
start_native_transport: true
endpoint_snitch: SimpleSnitch
authenticator: ${login ? 'PasswordAuthenticator' : 'AllowAllAuthenticator'}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: "127.0.0.1:${storagePort}"}]
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
    port,
    isMeasured
  })
  await server.start()
  return {
    port,
    user: login ? 'cassandra' : '',
    password: login ? 'cassandra' : '',
    ca: certificates?.ca ?? '',
    folder,
    get pid () { return server.pid },
    start: server.start,
    stop: server.stop,
    kill: server.kill,
    async remove () {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    }
  }
}
