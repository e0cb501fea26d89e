import { existsSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCredentials } from '../base/credentials.js'
import { describe } from '../base/errors.js'
import { SystemFiles } from '../stats/monitor/system-files.js'
import { Flow, flowFileIn, readFlow } from './flow.js'
import { outputOf } from './program.js'
import { startedWith, variablesOf } from './started-with.js'
import { userOfNumber, userOfProcess } from './system-user.js'

/**
 * @typedef {object} Place  the gateway that is examined
 * @property {string} userDir
 * @property {string} [flowFile]  where it is not the one that it was started with, or the user folder's own
 * @property {import('./flow.js').SchemaOf} schemaOf
 * @property {string|null} nodeRed  the version of Node-RED; null where it is not installed
 * @property {number} [port]  of the editor
 * @property {import('./flow.js').CredentialsOf} [credentialsOf]  of a gateway that runs in this process
 * @property {string} [root]  what `/proc`, `/sys` and `/etc` are below
 * @property {typeof outputOf} [run]  a program of the system
 * @property {NodeJS.ProcessEnv} [environment]
 *
 * @typedef {'running'|'stopped'|'unknown'} State
 */

/** A gateway, and what its checks need to know of it. Nothing here opens, locks or changes anything of it. */
export class Subject {
  /** @type {Promise<Flow|null>|undefined} */
  #flow

  /** @param {Place} place */
  constructor (place) {
    this.place = place
    this.userDir = place.userDir
    this.dataDir = join(place.userDir, 'sluice')
    this.isHere = place.credentialsOf !== undefined
    this.files = new SystemFiles(place.root)
    this.run = place.run ?? outputOf
    /** Why the flow cannot be read. @type {string|null} */
    this.flowProblem = null
    /** Of the gateway's process. @type {number|null} */
    this.pid = this.isHere ? process.pid : this.#running()
    const { port, flowFile } = this.pid === null || this.isHere ? {} : startedWith(this.files, this.pid)
    this.port = place.port ?? port ?? 1880
    this.flowFile = place.flowFile ?? flowFile ?? flowFileIn(place.userDir)
  }

  /** Only `sluice start` locks its folder: of a Node-RED of one's own nothing is known. @returns {State} */
  get state () {
    if (this.pid !== null) return 'running'
    return existsSync(join(this.userDir, 'gateway.lock')) ? 'stopped' : 'unknown'
  }

  /** The flow; null where there is none yet, or it cannot be read (`flowProblem`). */
  get flow () {
    this.#flow ??= this.#readFlow()
    return this.#flow
  }

  /** Of who asks, and what the gateway was started with. @returns {NodeJS.ProcessEnv} */
  get environment () {
    return { ...this.pid === null ? {} : variablesOf(this.files, this.pid), ...this.place.environment ?? process.env }
  }

  /** The user that the gateway runs as. */
  get user () {
    const running = this.pid === null ? null : userOfProcess(this.files, this.pid)
    if (running) return running
    const ownUid = process.getuid?.() ?? 0
    return userOfNumber(this.files, ownUid === 0 ? uidOf(this.userDir) ?? 0 : ownUid)
  }

  /** The gateway's name; null before its first start. */
  async gatewayId () {
    return (await readFile(join(this.dataDir, 'gateway-id'), 'utf8').catch(() => '')).trim() || null
  }

  async #readFlow () {
    try {
      const nodes = await readFlow(this.flowFile)
      return nodes && new Flow(nodes, { ...this.place, environment: this.environment, credentialsOf: this.#credentialsOf() })
    } catch (error) {
      this.flowProblem = describe(error)
      return null
    }
  }

  /** The passwords that are kept beside the flow; null where they cannot be read. */
  get credentials () {
    try {
      return readCredentials(this.userDir, this.flowFile)
    } catch {
      return null
    }
  }

  /** @returns {import('./flow.js').CredentialsOf|null} */
  #credentialsOf () {
    if (this.place.credentialsOf) return this.place.credentialsOf
    const kept = this.credentials
    return kept && (id => kept[id])
  }

  /**
   * The process that runs there, by the file it leaves beside its lock: trying the lock could keep a gateway from starting. After a power
   * cut another process may have that number.
   * @returns {number|null}
   */
  #running () {
    const pid = Number.parseInt(textOf(join(this.userDir, 'gateway.pid')), 10)
    const command = this.files.text(`/proc/${pid}/cmdline`)
    if (!(pid > 0) || pid === process.pid || command !== undefined && !command.includes('sluice')) return null
    try {
      process.kill(pid, 0)
      return pid
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM' ? pid : null
    }
  }
}

/** Empty where it cannot be read. @param {string} path */
function textOf (path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** @param {string} path */
function uidOf (path) {
  try {
    return statSync(path).uid
  } catch {
    return null
  }
}
