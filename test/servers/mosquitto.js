import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeCertificates } from './certificates.js'
import { freePort, waitForPort } from './ports.js'
import { findProgram, requireServer } from './programs.js'

const program = findProgram('mosquitto')

/** A test that fails before it stops its broker leaves none running. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')))

/** What keeps this machine from running it, null when nothing does. */
export function missingMosquitto () {
  return program ? null : 'the program mosquitto is not installed (apt-get install mosquitto)'
}

/** Skips the suite where Mosquitto is not installed. @param {Mocha.Context} context */
export function requireMosquitto (context) {
  requireServer(context, 'mosquitto', missingMosquitto())
}

/**
 * @typedef {object} MosquittoOptions
 * @property {string[]} [conf]  extra lines of its configuration
 * @property {string} [confText]  the whole configuration instead
 * @property {string} [dir]  where it keeps everything; a new temporary folder, removed by stop(), when left out
 * @property {number} [port]  a free one when left out
 * @property {boolean} [tls]  with certificates made for the occasion
 * @property {boolean} [clientCertificates]  clients must show one of the same authority
 * @property {Record<string, string>} [users]  name → password; no one else is let in
 * @property {boolean} [anonymous]  whether others are let in where no users are given (default true)
 */

/**
 * A real Mosquitto on 127.0.0.1 that can be killed and started again on the same port and folder.
 * It keeps what it holds in a snapshot written every second.
 * @param {MosquittoOptions} [options]
 */
export async function startMosquitto (options = {}) {
  const dir = options.dir ?? await mkdtemp(join(tmpdir(), 'sluice-mosquitto-'))
  const port = options.port ?? await freePort()
  const certificates = options.tls || options.clientCertificates ? makeCertificates(dir) : null
  const conf = join(dir, 'mosquitto.conf')
  await writeFile(conf, options.confText ?? configuration({ ...options, dir, port, certificates }))

  const mosquitto = new Mosquitto(dir, port, conf, certificates, options.dir === undefined)
  await mosquitto.start()
  return mosquitto
}

class Mosquitto {
  /** @type {import('node:child_process').ChildProcess|null} */
  #process = null
  #removesDir

  /**
   * @param {string} dir
   * @param {number} port
   * @param {string} conf
   * @param {ReturnType<makeCertificates>|null} certificates
   * @param {boolean} removesDir
   */
  constructor (dir, port, conf, certificates, removesDir) {
    this.dir = dir
    this.port = port
    this.conf = conf
    this.certificates = certificates
    this.url = `${certificates ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`
    this.#removesDir = removesDir
  }

  get pid () { return this.#process?.pid }

  /** Starts it, again after kill(), and waits until it listens. */
  async start () {
    const child = spawn(/** @type {string} */ (program), ['-c', this.conf], { stdio: 'ignore' })
    child.unref() // or a test that fails would keep mocha from ending
    this.#process = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    await waitForPort(this.port, {
      gone: () => (child.exitCode === null ? null : `mosquitto -c ${this.conf} exited with ${child.exitCode}.`)
    })
  }

  /** Ends it as a power cut would, as far as a process can feel one. */
  async kill () { await this.#end('SIGKILL') }

  /** Ends it in peace, its snapshot written, and removes its temporary folder. */
  async stop () {
    await this.#end('SIGTERM')
    if (this.#removesDir) await rm(this.dir, { recursive: true })
  }

  /** Waits for a snapshot begun after this call: what the broker holds now survives kill(). */
  async saved () {
    const snapshot = join(this.dir, 'mosquitto.db')
    const asked = Date.now()
    const writtenMs = () => stat(snapshot).then(({ mtimeMs }) => mtimeMs, () => 0)
    while (await writtenMs() <= asked) await sleep(50)
  }

  /** Forgets sessions, queues and retained messages; only while it is not running. */
  async deletePersistence () { await rm(join(this.dir, 'mosquitto.db'), { force: true }) }

  /** What it logged so far. */
  async log () { return await readFile(join(this.dir, 'mosquitto.log'), 'utf8') }

  /** @param {NodeJS.Signals} signal */
  async #end (signal) {
    const child = this.#process
    this.#process = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    child.kill(signal)
    await once(child, 'exit')
  }
}

/** @param {MosquittoOptions & {dir: string, port: number, certificates: ReturnType<makeCertificates>|null}} options */
function configuration ({ conf = [], dir, port, users, anonymous = true, certificates, clientCertificates }) {
  return [
    `listener ${port} 127.0.0.1`,
    ...asRoot(),
    'persistence true',
    `persistence_location ${dir}/`,
    'autosave_interval 1',
    'max_queued_messages 0',
    `log_dest file ${join(dir, 'mosquitto.log')}`,
    ...(users ? ['allow_anonymous false', `password_file ${passwordFile(dir, users)}`] : [`allow_anonymous ${anonymous}`]),
    ...(certificates ? [`cafile ${certificates.ca}`, `certfile ${certificates.server.cert}`, `keyfile ${certificates.server.key}`] : []),
    ...(clientCertificates ? ['require_certificate true'] : []),
    ...conf,
    ''
  ].join('\n')
}

/** Started by root it would change to a user who may not write its folder. */
export function asRoot () {
  return process.getuid?.() === 0 ? ['user root'] : []
}

/** @param {string} dir @param {Record<string, string>} users */
function passwordFile (dir, users) {
  const file = join(dir, 'passwords')
  Object.entries(users).forEach(([user, password], i) => {
    execFileSync('mosquitto_passwd', [...(i === 0 ? ['-c'] : []), '-b', file, user, password], { stdio: 'pipe' })
  })
  return file
}
