import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { chown, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { makeCertificates } from './certificates.js'
import { freePort } from './ports.js'
import { findProgram } from './programs.js'

/**
 * A real MariaDB server on 127.0.0.1, in a folder of its own, with fsync on.
 *
 * @typedef {object} MariadbServer
 * @property {number} port
 * @property {string} user  who may do everything
 * @property {string} password
 * @property {string} database  empty at first
 * @property {string} data  its data folder
 * @property {string} ca  path of the authority's certificate, where the server has TLS
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop  ends its connections and shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const USER = 'sluice'
const PASSWORD = 'sluice password'
const DATABASE = 'plant'

const PROGRAMS = ['mariadbd', 'mariadb-install-db']

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })
/** @type {Promise<string>|undefined} */
let template

/** What of MariaDB is not installed, or null. @returns {string|null} */
export function missingMariadb () {
  const missing = PROGRAMS.filter(program => findProgram(program) === null)
  return missing.length === 0 ? null : `${missing.join(' and ')} not found on the PATH or in /usr/sbin`
}

/**
 * @param {{dir?: string, tls?: boolean, options?: string[]}} [options]  `dir` must be empty or the folder of an earlier server; `tls` gives
 *   it a certificate for 127.0.0.1 and localhost; `options` are more of mariadbd's
 * @returns {Promise<MariadbServer>} started
 */
export async function startMariadb ({ dir, tls = false, options = [] } = {}) {
  const missing = missingMariadb()
  if (missing) throw new Error(`MariaDB: ${missing}`)
  const account = await serverAccount()
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-mariadb-'))
  await own(folder, account)
  const data = join(folder, 'data')
  const port = await freePort()
  if (!existsSync(data)) {
    template ??= initialise(account)
    await run('cp', ['-a', await template, data])
  }
  const certificates = tls ? makeCertificates(folder) : null
  for (const file of certificates ? await readdir(folder) : []) if (file !== 'data') await own(join(folder, file), account)
  const args = [
    '--no-defaults',
    `--datadir=${data}`,
    `--tmpdir=${folder}`,
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    '--skip-name-resolve',
    '--local-infile=1',
    '--innodb-buffer-pool-size=64M',
    '--innodb-flush-log-at-trx-commit=1',
    ...(certificates
      ? [`--ssl-ca=${certificates.ca}`, `--ssl-cert=${certificates.server.cert}`, `--ssl-key=${certificates.server.key}`]
      : []),
    ...options
  ]

  /** @type {import('node:child_process').ChildProcess|null} */
  let server = null
  const end = async (/** @type {NodeJS.Signals} */ signal) => {
    if (!server) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  /** @type {MariadbServer} */
  const handle = {
    port,
    user: USER,
    password: PASSWORD,
    database: DATABASE,
    data,
    ca: certificates?.ca ?? '',
    get pid () { return server?.pid },
    async start () {
      const child = spawn(String(findProgram('mariadbd')), args, { ...account, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
      let log = ''
      child.stderr.on('data', text => { log = (log + text).slice(-4000) })
      running.add(child)
      child.once('exit', () => {
        running.delete(child)
        if (server === child) server = null
      })
      server = child
      if (!await answers(handle, () => server === child)) throw new Error(`MariaDB does not start:\n${log}`)
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async remove () {
      await end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    }
  }
  await handle.start()
  return handle
}

/** A database ready to be filled, which the servers of this process are copied from. @param {Account} account @returns {Promise<string>} */
async function initialise (account) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mariadb-'))
  await own(folder, account)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  await run(
    String(findProgram('mariadb-install-db')),
    [
      '--no-defaults', `--datadir=${data}`, `--tmpdir=${folder}`, '--auth-root-authentication-method=normal', '--skip-test-db',
      '--skip-name-resolve'
    ],
    { ...account, cwd: folder }
  )
  const init = [
    'FLUSH PRIVILEGES;', // or accounts cannot be made
    `CREATE DATABASE ${DATABASE};`,
    `CREATE USER ${USER} IDENTIFIED BY '${PASSWORD}';`,
    `GRANT ALL PRIVILEGES ON *.* TO ${USER} WITH GRANT OPTION;`,
    ''
  ]
  await run(String(findProgram('mariadbd')), ['--no-defaults', `--datadir=${data}`, `--tmpdir=${folder}`, '--bootstrap'], {
    ...account,
    cwd: folder,
    input: init.join('\n')
  })
  return data
}

/** @typedef {{uid?: number, gid?: number}} Account */

/** MariaDB refuses to run as root. @returns {Promise<Account>} */
async function serverAccount () {
  if (process.getuid?.() !== 0) return {}
  const entry = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':')).find(([name]) => name === 'mysql')
  if (!entry) throw new Error('MariaDB does not run as root, and there is no user "mysql"')
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/** @param {string} path @param {Account} account */
async function own (path, { uid, gid }) {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}

/** @param {MariadbServer} server @param {() => boolean} isRunning @returns {Promise<boolean>} false when it has ended */
async function answers ({ port, user, password, database }, isRunning) {
  while (isRunning()) {
    try {
      const connection = await mysql.createConnection({ host: '127.0.0.1', port, user, password, database })
      await connection.end()
      return true
    } catch {
      await sleep(20)
    }
  }
  return false
}

/** @param {string} program @param {string[]} args @param {Account & {cwd?: string, input?: string}} [options] */
async function run (program, args, { input, ...options } = {}) {
  const child = spawn(program, args, { ...options, stdio: ['pipe', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', text => { errors += text })
  child.stdin.end(input ?? '')
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${errors}`)
}
