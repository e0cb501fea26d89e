import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeCertificates } from './certificates.js'
import { freePort, waitForPort } from './ports.js'
import { findProgram } from './programs.js'

/**
 * A real ClickHouse server on 127.0.0.1, in a folder of its own: a modern one, which is a library that a small launcher runs, or the old
 * one of Debian.
 *
 * @typedef {object} ClickhouseServer
 * @property {number} port  of HTTP
 * @property {number} nativePort  of clickhouse-client; 0 where there is none
 * @property {number} tlsPort  of HTTPS; 0 where there is none
 * @property {string} user
 * @property {string} password
 * @property {string} database
 * @property {string} data  its data folder
 * @property {string} ca  the certificate authority's path, where it speaks HTTPS
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const USER = 'sluice'
const PASSWORD = 'clickhouse password'

const here = dirname(fileURLToPath(import.meta.url))
const library = join(
  here,
  '..',
  '..',
  'node_modules',
  '.cache',
  'sluice',
  'clickhouse',
  'node_modules',
  '@chdb',
  'lib-linux-x64-gnu',
  'libchdb.so'
)

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
/** @type {Set<string>} */
const folders = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** What is missing for the modern server, null when all is there. */
export function missingClickhouse () {
  if (!existsSync(library)) return 'the library of the modern ClickHouse is not installed (node test/servers/clickhouse/install.js)'
  return findProgram('python3') ? null : 'the modern ClickHouse is launched by python3, which is not installed'
}

/** What is missing for the old server, null when all is there. */
export function missingOldClickhouse () {
  return findProgram('clickhouse-server') ? null : 'clickhouse-server is not installed'
}

/**
 * @param {{dir?: string}} [options]  `dir` must be empty or the folder of an earlier server
 * @returns {Promise<ClickhouseServer>} started
 */
export async function startClickhouse ({ dir } = {}) {
  const folder = dir ?? await ownFolder()
  const port = await freePort()
  const file = (/** @type {string} */ name) => join(folder, name)
  await writeFile(file('users.xml'), usersXml())
  await writeFile(file('config.xml'), `<clickhouse><users_config>${file('users.xml')}</users_config></clickhouse>`)
  rmSync(file('end'), { force: true })
  execFileSync('mkfifo', [file('end')])
  // It serves as long as this query waits for the first line from a pipe.
  const query = `SYSTEM START LISTEN HTTP; SELECT count() FROM file('${file('end')}', 'LineAsString') FORMAT Null`
  const args = [
    `--config-file=${file('config.xml')}`,
    `--path=${file('data')}`,
    `--http_port=${port}`,
    '--listen_host=127.0.0.1',
    '--multiquery',
    `--query=${query}`
  ]
  const handle = new Handle(folder, { port }, () =>
    spawn('python3', [join(here, 'clickhouse', 'launcher.py'), library, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  )
  await handle.start()
  await handle.makeDatabase()
  return handle
}

/** @param {{dir?: string}} [options]  see startClickhouse @returns {Promise<ClickhouseServer>} started, with HTTPS as well */
export async function startOldClickhouse ({ dir } = {}) {
  const program = findProgram('clickhouse-server')
  if (!program) throw new Error('clickhouse-server is not installed')
  const folder = dir ?? await ownFolder()
  const file = (/** @type {string} */ name) => join(folder, name)
  const [port, nativePort, tlsPort] = [await freePort(), await freePort(), await freePort()]
  if (!existsSync(file('ca.crt'))) makeCertificates(folder)
  await mkdir(file('data'), { recursive: true })
  await writeFile(file('users.xml'), usersXml().replaceAll('clickhouse>', 'yandex>'))
  await writeFile(
    file('config.xml'),
    `<yandex>
    <logger><level>error</level><log>${file('log')}</log><errorlog>${file('errors')}</errorlog></logger>
    <http_port>${port}</http_port><https_port>${tlsPort}</https_port><tcp_port>${nativePort}</tcp_port><listen_host>127.0.0.1</listen_host>
    <openSSL><server>
      <certificateFile>${file('server.crt')}</certificateFile><privateKeyFile>${file('server.key')}</privateKeyFile>
      <verificationMode>none</verificationMode>
    </server></openSSL>
    <path>${file('data')}/</path><tmp_path>${file('tmp')}/</tmp_path><users_config>${file('users.xml')}</users_config>
    <timezone>UTC</timezone><mark_cache_size>100000000</mark_cache_size><keep_alive_timeout>1</keep_alive_timeout>
    <default_profile>default</default_profile><default_database>default</default_database>
  </yandex>`
  )
  const account = await serverAccount()
  if (account.uid !== undefined) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, folder])
  const handle = new Handle(folder, { port, nativePort, tlsPort, ca: file('ca.crt') },
    () => spawn(program, [`--config-file=${file('config.xml')}`], { ...account, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] }))
  await handle.start()
  await handle.makeDatabase()
  return handle
}

/** @implements {ClickhouseServer} */
class Handle {
  user = USER
  password = PASSWORD
  database = 'sluice'
  #folder
  #spawn
  /** @type {import('node:child_process').ChildProcess|null} */
  #server = null

  /**
   * @param {string} folder
   * @param {{port: number, nativePort?: number, tlsPort?: number, ca?: string}} access
   * @param {() => import('node:child_process').ChildProcess} start
   */
  constructor (folder, { port, nativePort = 0, tlsPort = 0, ca = '' }, start) {
    this.#folder = folder
    this.#spawn = start
    this.port = port
    this.nativePort = nativePort
    this.tlsPort = tlsPort
    this.ca = ca
  }

  get pid () { return this.#server?.pid }

  get data () { return join(this.#folder, 'data') }

  async start () {
    const child = this.#spawn()
    let log = ''
    child.stderr?.on('data', text => { log = (log + text).slice(-4000) })
    running.add(child)
    child.once('exit', () => {
      running.delete(child)
      if (this.#server === child) this.#server = null
    })
    this.#server = child
    await waitForPort(this.port, { gone: () => this.#server === child ? null : `it has ended:\n${log}` })
  }

  /** Its port may be open before it answers there. */
  async makeDatabase () {
    const url = `http://127.0.0.1:${this.port}/?${new URLSearchParams({ user: USER, password: PASSWORD })}`
    for (;;) {
      const answer = await fetch(url, { method: 'POST', body: `CREATE DATABASE IF NOT EXISTS ${this.database}` }).catch(error => {
        if (!this.#server) throw error
      })
      if (answer?.ok) return
      if (answer) throw new Error(await answer.text())
      await sleep(20)
    }
  }

  stop () { return this.#end('SIGTERM') }

  kill () { return this.#end('SIGKILL') }

  async remove () {
    await this.#end('SIGKILL')
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** @param {NodeJS.Signals} signal */
  async #end (signal) {
    if (!this.#server) return
    const ended = once(this.#server, 'exit')
    this.#server.kill(signal)
    await ended
  }
}

/** The modern server asks its own user "default" for no password. */
function usersXml () {
  const user = (/** @type {string} */ name, /** @type {string} */ password, profile = 'default') =>
    `<${name}><password>${password}</password><networks><ip>127.0.0.1</ip></networks><profile>${profile}</profile>
     <quota>default</quota></${name}>`
  return `<clickhouse>
    <profiles><default/><reading><readonly>1</readonly></reading></profiles><quotas><default/></quotas>
    <users>${user('default', '')}${user(USER, PASSWORD)}${user('reader', PASSWORD, 'reading')}</users>
  </clickhouse>`
}

async function ownFolder () {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-clickhouse-'))
  folders.add(folder)
  return folder
}

/** The old server is run by its own user where there is one, as its files would be. @returns {Promise<{uid?: number, gid?: number}>} */
async function serverAccount () {
  if (process.getuid?.() !== 0) return {}
  const entry = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':')).find(([name]) => name === 'clickhouse')
  return entry ? { uid: Number(entry[2]), gid: Number(entry[3]) } : {}
}
