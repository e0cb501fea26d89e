import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from './certificates.js'
import { freePort, waitForPort } from './ports.js'
import { findProgram } from './programs.js'

/**
 * A real InfluxDB 1.x server on 127.0.0.1, in a folder of its own, that asks for a login and syncs each write.
 *
 * @typedef {object} InfluxdbServer
 * @property {number} port  of HTTP
 * @property {number} udpPort  0 where it does not listen
 * @property {string} user  who may do everything
 * @property {string} password
 * @property {string} udpDatabase  where what comes by UDP goes
 * @property {string} ca  path of the authority's certificate, where the server has TLS
 * @property {number|undefined} pid  while it runs
 * @property {(statement: string, parameters?: Record<string, string>) => Promise<any>} query  InfluxQL, as that user; gives the first
 *   result
 * @property {() => Promise<string>} version  of the program
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop  shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const USER = 'sluice'
const PASSWORD = 'sluice\'s password'
const UDP_DATABASE = 'udp'

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })

/** What of InfluxDB is not installed, or null. @returns {string|null} */
export function missingInfluxdb () {
  return findProgram('influxd') ? null : 'influxd not found on the PATH or in /usr/sbin'
}

/**
 * @param {{dir?: string, tls?: boolean, udp?: boolean, settings?: string}} [options]  `dir` must be empty or the folder of an earlier
 *   server; `tls` gives it a certificate for 127.0.0.1 and localhost; `udp` makes it listen for datagrams; `settings` are more lines of its
 *   configuration's section [http]
 * @returns {Promise<InfluxdbServer>} started
 */
export async function startInfluxdb ({ dir, tls = false, udp = false, settings = '' } = {}) {
  const missing = missingInfluxdb()
  if (missing) throw new Error(`InfluxDB: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-influxdb-'))
  const [port, backupPort, udpPort] = await Promise.all([freePort(), freePort(), freePort()])
  const certificates = tls ? makeCertificates(folder) : null
  const ca = certificates ? await readFile(certificates.ca) : undefined
  const config = join(folder, 'influxdb.conf')
  await writeFile(
    config,
    `
reporting-disabled = true
bind-address = "127.0.0.1:${backupPort}"
[meta]
  dir = "${join(folder, 'meta')}"
[data]
  dir = "${join(folder, 'data')}"
  wal-dir = "${join(folder, 'wal')}"
  wal-fsync-delay = "0s"
  query-log-enabled = false
[monitor]
  store-enabled = false
[continuous_queries]
  enabled = false
[http]
  bind-address = "127.0.0.1:${port}"
  auth-enabled = true
  log-enabled = false
  ${certificates ? 'https-enabled = true' : ''}
  ${certificates ? `https-certificate = "${certificates.server.cert}"` : ''}
  ${certificates ? `https-private-key = "${certificates.server.key}"` : ''}
  ${settings}
[[udp]]
  enabled = ${udp}
  bind-address = "127.0.0.1:${udpPort}"
  database = "${UDP_DATABASE}"
  precision = "n"
  batch-timeout = "100ms"
  read-buffer = 4194304
`
  )

  /** @type {import('node:child_process').ChildProcess|null} */
  let server = null
  let hasUser = existsSync(join(folder, 'meta'))
  const base = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`
  const end = async (/** @type {NodeJS.Signals} */ signal) => {
    if (!server) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }
  /** @type {InfluxdbServer} */
  const handle = {
    port,
    udpPort: udp ? udpPort : 0,
    user: USER,
    password: PASSWORD,
    udpDatabase: UDP_DATABASE,
    ca: certificates?.ca ?? '',
    get pid () { return server?.pid },
    async query (statement, parameters = {}) {
      const login = hasUser ? { auth: `${USER}:${PASSWORD}` } : {}
      const text = await post(
        `${base}/query?${new URLSearchParams({ epoch: 'ns', ...parameters })}`,
        String(new URLSearchParams({ q: statement })),
        { ...login, ca }
      )
      const { results: [result] = [], error } = JSON.parse(text, exactNumber)
      if (error ?? result?.error) throw new Error(`${statement}: ${error ?? result.error}`)
      return result
    },
    async version () {
      const { series: [{ columns, values }] } = await handle.query('SHOW DIAGNOSTICS FOR \'build\'')
      return values[0][columns.indexOf('Version')]
    },
    async start () {
      const child = spawn(String(findProgram('influxd')), ['-config', config], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
      let log = ''
      child.stderr.on('data', text => { log = (log + text).slice(-4000) })
      running.add(child)
      child.once('exit', () => {
        running.delete(child)
        if (server === child) server = null
      })
      server = child
      await waitForPort(port, { gone: () => server === child ? null : `InfluxDB has ended:\n${log}` })
      if (!hasUser) await handle.query(`CREATE USER "${USER}" WITH PASSWORD '${PASSWORD.replaceAll('\'', '\\\'')}' WITH ALL PRIVILEGES`)
      hasUser = true
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async remove () {
      await end('SIGTERM')
      await rm(folder, { recursive: true, force: true })
    }
  }
  await handle.start()
  if (udp) await handle.query(`CREATE DATABASE "${UDP_DATABASE}"`)
  return handle
}

/**
 * Whole numbers as numbers where safe and else as BigInt.
 * @param {string} _key
 * @param {unknown} value
 * @param {any} [context]  with the text of the number
 */
function exactNumber (_key, value, context) {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(context.source)) return value
  return BigInt(context.source)
}

/** @param {string} url @param {string} body @param {import('node:https').RequestOptions} options @returns {Promise<string>} */
function post (url, body, options) {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? https.request : http.request
    const headers = { 'content-type': 'application/x-www-form-urlencoded', connection: 'close' }
    request(url, { ...options, method: 'POST', headers }, async response => {
      try {
        resolve(Buffer.concat(await response.toArray()).toString())
      } catch (error) {
        reject(error)
      }
    }).on('error', reject).end(body)
  })
}
