import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { appendFile, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from './ports.js'

/**
 * A real PostgreSQL server on 127.0.0.1, in a folder of its own, with fsync on.
 *
 * @typedef {object} PostgresqlServer
 * @property {number} port
 * @property {string} user
 * @property {string} password
 * @property {string} database
 * @property {string} data  its data folder
 * @property {string} certificate  its path, where the server has one
 * @property {number|undefined} pid  of the postmaster while it runs
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop  ends its connections and shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL to the postmaster: its backends end by themselves when they notice
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const USER = 'postgres'
const PASSWORD = 'postgres password'

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
/** @type {Promise<string>|undefined} */
let template

/** The folder of PostgreSQL's server programs, or null. @returns {string|null} */
export function postgresqlPrograms () {
  const packaged = '/usr/lib/postgresql'
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map(version => join(packaged, version, 'bin')), ...(process.env.PATH ?? '').split(delimiter)]
  return folders.find(folder => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null
}

/** Whether TimescaleDB is installed beside Debian's PostgreSQL. */
export function hasTimescale () {
  const version = /postgresql\/(\d+)\/bin$/.exec(postgresqlPrograms() ?? '')?.[1]
  return version !== undefined && existsSync(`/usr/share/postgresql/${version}/extension/timescaledb.control`)
}

/**
 * Skips the running suite, with the reason printed, where there is no PostgreSQL; fails it where SLUICE_REQUIRE names postgresql.
 * @param {Mocha.Context} context
 */
export function requirePostgresql (context) {
  if (postgresqlPrograms()) return
  const reason = 'PostgreSQL is not installed: no initdb and postgres in /usr/lib/postgresql/*/bin or on the PATH'
  if (process.env.SLUICE_REQUIRE?.includes('postgresql')) throw new Error(reason)
  console.log(`      skipped: ${reason}`)
  context.skip()
}

/**
 * @param {{dir?: string, tls?: boolean, timescale?: boolean}} [options]  `dir` must be empty or the folder of an earlier server; `tls`
 *   gives it a certificate of its own for 127.0.0.1; `timescale` loads TimescaleDB
 * @returns {Promise<PostgresqlServer>} started
 */
export async function startPostgresql ({ dir, tls = false, timescale = false } = {}) {
  const programs = postgresqlPrograms()
  if (!programs) throw new Error('PostgreSQL is not installed')
  const account = await serverAccount()
  const folder = dir ?? await ownFolder(account)
  const data = join(folder, 'data')
  const port = await freePort()
  if (!existsSync(data)) {
    template ??= initialise(programs, account)
    await run('cp', ['-a', await template, data])
  }
  if (tls) {
    await run(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        '/CN=sluice',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-keyout',
        'server.key',
        '-out',
        'server.crt'
      ],
      { ...account, cwd: data }
    )
    await appendFile(join(data, 'postgresql.conf'), '\nssl = on\n')
  }
  if (timescale) {
    await appendFile(join(data, 'postgresql.conf'), '\nshared_preload_libraries = \'timescaledb\'\ntimescaledb.telemetry_level = off\n')
  }
  await appendFile(join(data, 'postgresql.conf'), `\nlisten_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\n`)

  /** @type {import('node:child_process').ChildProcess|null} */
  let server = null
  const end = async (/** @type {NodeJS.Signals} */ signal) => {
    if (!server) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  /** @type {PostgresqlServer} */
  const handle = {
    port,
    user: USER,
    password: PASSWORD,
    database: 'postgres',
    data,
    certificate: join(data, 'server.crt'),
    get pid () { return server?.pid },
    async start () {
      // After a kill the new postmaster refuses to run until the last old backend has gone.
      for (let attempt = 0; ; attempt++) {
        const child = spawn(join(programs, 'postgres'), ['-D', data], { ...account, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
        let log = ''
        child.stderr.on('data', text => { log = (log + text).slice(-4000) })
        running.add(child)
        child.once('exit', () => {
          running.delete(child)
          if (server === child) server = null
        })
        server = child
        if (await answers(handle, () => server === child)) return
        if (attempt === 50) throw new Error(`PostgreSQL does not start:\n${log}`)
        await sleep(100)
      }
    },
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    async remove () {
      await end('SIGINT')
      await rm(folder, { recursive: true, force: true })
    }
  }
  await handle.start()
  return handle
}

/**
 * An empty database, ready to be filled, which the servers of this process are copied from.
 * @param {string} programs
 * @param {Account} account
 */
async function initialise (programs, account) {
  const folder = await ownFolder(account)
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, PASSWORD)
  const data = join(folder, 'data')
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...account, cwd: folder }
  )
  return data
}

/** @typedef {{uid?: number, gid?: number}} Account */

/** PostgreSQL refuses to run as root. @returns {Promise<Account>} */
async function serverAccount () {
  if (process.getuid?.() !== 0) return {}
  const entry = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':')).find(([name]) => name === 'postgres')
  if (!entry) throw new Error('PostgreSQL cannot run as root, and there is no user "postgres"')
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/** @param {Account} account */
async function ownFolder ({ uid, gid }) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postgresql-'))
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid)
  return folder
}

/** @param {PostgresqlServer} server @param {() => boolean} isRunning  @returns {Promise<boolean>} false when it has ended */
async function answers ({ port, user, password, database }, isRunning) {
  while (isRunning()) {
    const client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      await sleep(20)
    }
  }
  return false
}

/** @param {string} program @param {string[]} args @param {import('node:child_process').SpawnOptions} [options] */
async function run (program, args, options = {}) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr?.on('data', text => { errors += text })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors}`)
}
