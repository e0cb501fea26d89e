import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from './certificates.js'
import { ferretdb } from './go/programs.js'
import { freePort, waitForPort } from './ports.js'
import { postgresqlPrograms, startPostgresql } from './postgresql.js'

/**
 * A server that speaks the MongoDB protocol on 127.0.0.1: FerretDB, with its data in a PostgreSQL of its own with fsync on.
 *
 * @typedef {object} MongodbServer
 * @property {number} port
 * @property {string} url  whoever comes without a login gets in
 * @property {string} user  for who logs in by PLAIN
 * @property {string} password
 * @property {string} certificate  path of the authority's, where the server has TLS
 * @property {number|undefined} pid  while it runs
 * @property {number|undefined} postgresqlPid  likewise
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop
 * @property {() => Promise<void>} kill  SIGKILL to it and to its PostgreSQL
 * @property {() => Promise<void>} remove  stops it and removes its folders
 */

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** What keeps the server from being started, or null. */
export function missingMongodb () {
  if (!existsSync(ferretdb.program)) return 'FerretDB is not built (node test/servers/go/build.js)'
  return postgresqlPrograms() ? null : 'PostgreSQL, which FerretDB stores in, is not installed'
}

/**
 * @param {{dir?: string, tls?: boolean}} [options]  `dir` must be empty or the folder of an earlier server; `tls` makes it take encrypted
 *   connections only
 * @returns {Promise<MongodbServer>} started
 */
export async function startMongodb ({ dir, tls = false } = {}) {
  const postgresql = await startPostgresql({ dir })
  const folder = dir ? join(dir, 'ferretdb') : await mkdtemp(join(tmpdir(), 'sluice-ferretdb-'))
  await mkdir(folder, { recursive: true })
  const certificates = tls ? makeCertificates(folder) : null
  const port = await freePort()
  const { user, password, database } = postgresql
  const store = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${postgresql.port}/${database}`

  /** @type {import('node:child_process').ChildProcess|null} */
  let server = null
  const run = async () => {
    const secure = certificates ? ['-cert', certificates.server.cert, '-key', certificates.server.key] : []
    const child = spawn(ferretdb.program, ['-port', String(port), '-postgresql', store, ...secure], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe']
    })
    let log = ''
    child.stderr.on('data', text => { log = (log + text).slice(-4000) })
    running.add(child)
    child.once('exit', () => {
      running.delete(child)
      if (server === child) server = null
    })
    server = child
    await waitForPort(port, { gone: () => server === child ? null : `FerretDB has ended:\n${log}` })
  }
  const end = async () => {
    if (!server) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }
  await run()
  return {
    port,
    url: `mongodb://127.0.0.1:${port}`,
    user,
    password,
    certificate: certificates?.ca ?? '',
    get pid () { return server?.pid },
    get postgresqlPid () { return postgresql.pid },
    async start () {
      await postgresql.start()
      await run()
    },
    async stop () {
      await end() // it keeps nothing of its own
      await postgresql.stop()
    },
    async kill () {
      await Promise.all([end(), postgresql.kill()])
    },
    async remove () {
      await end()
      await postgresql.remove()
      await rm(folder, { recursive: true, force: true })
    }
  }
}
