import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hbase, jarsOf, missingJava } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real HBase on 127.0.0.1, in a folder of its own: ZooKeeper, master and region server in one process, the REST server in another.
 *
 * @typedef {object} HbaseServer
 * @property {number} port  of the REST server
 * @property {string} folder
 * @property {number[]} pids  of both, while they run
 * @property {() => Promise<void>} start  waits until it stores and reads; recovers after `kill`
 * @property {() => Promise<void>} stop  shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {(how: 'assign'|'unassign', table: string) => Promise<void>} regions  of a table, which nobody serves, or all again
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

/** What Hadoop reaches into that modern Java keeps to itself. */
const OPENS = [
  ...['nio', 'lang', 'lang.reflect', 'util', 'util.concurrent', 'net'].map(name => `java.${name}`), 'sun.nio.ch', 'jdk.internal.ref'
]

const LOG4J = `log4j.rootLogger=WARN,out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %c{1}: %m%n
`

/** What the REST server cannot do. */
const REGIONS = fileURLToPath(new URL('java/Regions.java', import.meta.url))

const START_MS = 120_000
const LOOK_MS = 100

/** What is missing for HBase, or null. */
export function missingHbase () {
  return missingJava(hbase)
}

/**
 * @param {{dir?: string, isMeasured?: boolean}} [options]  `dir` must be empty or the folder of an earlier server; `isMeasured` gives it
 *   more memory
 * @returns {Promise<HbaseServer>} started
 */
export async function startHbase ({ dir, isMeasured = false } = {}) {
  const missing = missingHbase()
  if (missing) throw new Error(`HBase: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-hbase-'))
  const conf = join(folder, 'conf')
  await mkdir(conf, { recursive: true })
  const [port, zookeeper, masterPort, regionPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const settings = {
    'hbase.cluster.distributed': 'false',
    'hbase.rootdir': `file://${join(folder, 'data')}`,
    'hbase.tmp.dir': join(folder, 'tmp'),
    // Hadoop's other way of writing local files keeps the end of a log back, and a kill would lose what was acknowledged.
    'fs.file.impl': 'org.apache.hadoop.fs.RawLocalFileSystem',
    'hbase.unsafe.stream.capability.enforce': 'false',
    'hbase.wal.provider': 'filesystem',
    'hbase.zookeeper.property.dataDir': join(folder, 'zookeeper'),
    'hbase.zookeeper.property.clientPort': zookeeper,
    'hbase.zookeeper.property.clientPortAddress': '127.0.0.1',
    'hbase.zookeeper.quorum': '127.0.0.1',
    // A busy machine lets it wait, and it ends itself when it has been given up.
    'hbase.zookeeper.property.tickTime': 6000,
    'zookeeper.session.timeout': 120_000,
    'hbase.master.ipc.address': '127.0.0.1',
    'hbase.regionserver.ipc.address': '127.0.0.1',
    'hbase.master.hostname': 'localhost',
    'hbase.regionserver.hostname': 'localhost',
    'hbase.master.port': masterPort,
    'hbase.regionserver.port': regionPort,
    'hbase.master.info.port': -1,
    'hbase.regionserver.info.port': -1,
    'hbase.rest.host': '127.0.0.1',
    'hbase.rest.port': port,
    'hbase.rest.info.port': -1,
    'hbase.regionserver.handler.count': 10,
    'hbase.master.wait.on.regionservers.timeout': 300,
    'hbase.master.wait.on.regionservers.interval': 100,
    // Each table written to would take 2 MB of memory at once: 150 of them, and the server blocks all writes for good.
    'hbase.hregion.memstore.mslab.enabled': 'false',
    'hbase.client.retries.number': 5
  }
  const properties = Object.entries(settings).map(([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`)
  await writeFile(join(conf, 'hbase-site.xml'), `<configuration>${properties.join('')}</configuration>`)
  await writeFile(join(conf, 'log4j.properties'), LOG4J)
  const options = [
    '--add-modules=jdk.unsupported',
    ...OPENS.map(name => `--add-opens=java.base/${name}=ALL-UNNAMED`),
    ...['java.base/jdk.internal.misc', 'java.security.jgss/sun.security.krb5'].map(name => `--add-exports=${name}=ALL-UNNAMED`)
  ]
  const setup = { args: ['start'], classPath: `${conf}:${jarsOf(hbase)}`, folder, isMeasured }
  const cluster = machine(hbase, {
    ...setup,
    main: 'org.apache.hadoop.hbase.master.HMaster',
    options: [...options, ...isMeasured ? ['-Xms512m', '-Xmx1g'] : ['-Xms256m', '-Xmx768m']],
    port: masterPort
  })
  const rest = machine(hbase, {
    ...setup, main: 'org.apache.hadoop.hbase.rest.RESTServer', options: [...options, '-Xms64m', '-Xmx256m'], port
  })
  const end = (/** @type {'stop'|'kill'} */ how) => Promise.all([rest[how](), cluster[how]()])
  const server = {
    port,
    folder,
    get pids () { return [cluster.pid, rest.pid].filter(pid => pid !== undefined) },
    async start () {
      // It knows which server runs, and would miss one that was killed only when its time is over.
      await rm(join(folder, 'zookeeper'), { recursive: true, force: true })
      await Promise.all([cluster.start(), rest.start()])
      await answers(port)
    },
    async stop () { await end('stop') },
    async kill () { await end('kill') },
    async regions (/** @type {string} */ how, /** @type {string} */ table) {
      const log = `-Dlog4j.configuration=file:${join(conf, 'log4j.properties')}`
      await promisify(execFile)('java', [log, ...options, '-cp', setup.classPath, REGIONS, how, table])
    },
    async remove () {
      await end('kill')
      await rm(folder, { recursive: true, force: true })
    }
  }
  await server.start()
  return server
}

/** Waits until tables can be used. @param {number} port */
async function answers (port) {
  const ends = AbortSignal.timeout(START_MS)
  for (;;) {
    const found = await fetch(`http://127.0.0.1:${port}/namespaces`, { signal: ends }).catch(() => ends.throwIfAborted())
    if (found?.ok) return
    await sleep(LOOK_MS)
  }
}
