import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jarsOf, missingJava, voltdb } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real VoltDB of one machine on 127.0.0.1, in a folder of its own. It is the edition for everybody, which keeps its rows in memory: one
 * that is killed, or stopped, starts empty.
 *
 * @typedef {object} VoltdbServer
 * @property {number} port
 * @property {string} user  empty where it asks for no login
 * @property {string} password
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it answers
 * @property {() => Promise<void>} stop
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const PACKAGES = ['java.lang', 'java.lang.invoke', 'sun.nio.ch', 'java.net', 'java.nio', 'java.util', 'jdk.internal.ref',
  'jdk.internal.reflect', 'jdk.internal.misc']

/** What is missing for VoltDB, or null. */
export function missingVoltdb () {
  return missingJava(voltdb)
}

/**
 * @param {{login?: boolean, isMeasured?: boolean, sites?: number}} [options]  `login` makes it ask for one; `isMeasured` gives it more
 *   memory; `sites`: partitions
 * @returns {Promise<VoltdbServer>} started
 */
export async function startVoltdb ({ login = false, isMeasured = false, sites = 2 } = {}) {
  const missing = missingVoltdb()
  if (missing) throw new Error(`VoltDB: ${missing}`)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-voltdb-'))
  const [port, admin, internal, zookeeper, http] = await Promise.all(Array.from({ length: 5 }, freePort))
  const [user, password] = login ? ['gateway', 'a secret'] : ['', '']
  const users = login ? `<security enabled="true"/><users><user name="${user}" password="${password}" roles="administrator"/></users>` : ''
  await mkdir(join(folder, 'tmp'))
  await writeFile(join(folder, 'deployment.xml'),
    `<deployment><cluster sitesperhost="${sites}" kfactor="0"/><httpd enabled="false"/>${users}</deployment>`)
  await writeFile(join(folder, 'log4j.properties'), `log4j.rootLogger=WARN, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%p %c: %m%n
`)
  const options = [
    '-Djava.library.path=.', '-Dfile.encoding=UTF-8', '-Duser.timezone=GMT+0', `-Djava.io.tmpdir=${join(folder, 'tmp')}`,
    `-Dlog4j.configuration=file:${join(folder, 'log4j.properties')}`, ...isMeasured ? ['-Xms256m', '-Xmx1g'] : ['-Xms128m', '-Xmx512m'],
    ...PACKAGES.map(name => `--add-opens=java.base/${name}=ALL-UNNAMED`), '--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED',
    // It is built with classes that are not there.
    '-XX:+UnlockDiagnosticVMOptions', '-XX:-BytecodeVerificationRemote'
  ]
  const root = join(folder, 'root')
  const initialize = spawn('java', [...options, '-cp', jarsOf(voltdb), 'org.voltdb.VoltDB', 'initialize', 'voltdbroot', root, 'force',
    'deployment', join(folder, 'deployment.xml')], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const output of [initialize.stdout, initialize.stderr]) output.on('data', text => { said += text })
  const [code] = await once(initialize, 'close')
  if (code !== 0) throw new Error(`VoltDB is not initialized: ${said}`)
  const server = machine(voltdb, {
    main: 'org.voltdb.VoltDB',
    options,
    args: ['probe', 'mesh', `127.0.0.1:${internal}`, 'hostcount', '1', 'voltdbroot', root, 'externalinterface', '127.0.0.1',
      'internalinterface', '127.0.0.1', 'port', String(port), 'adminport', String(admin), 'internalport', String(internal),
      'zkport', String(zookeeper), 'httpport', `127.0.0.1:${http}`],
    folder,
    port,
    isMeasured
  })
  await server.start()
  return {
    port,
    user,
    password,
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
