import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../../../gateway/base/errors.js'

const PROGRAM = fileURLToPath(new URL('../../../gateway/cli/sluice.js', import.meta.url))
/** A connection that is kept may be closed by the other end just when it is used again. */
const ONCE = { connection: 'close' }
const RUNNING = /Editor +(http:\S+)[^]*Ctrl-C stops it/

/**
 * @typedef {{child: import('node:child_process').ChildProcess, isExpectedToEnd: boolean, running: Promise<string>, ended: Promise<any[]>}}
 *   Started
 */

/** The gateway as a process of its own, which can be killed and started again. */
export class GatewayProcess {
  /** @type {Started|null} */
  #started = null
  #options

  /**
   * @param {object} options
   * @param {string} options.flowFile
   * @param {string} options.userDir
   * @param {string} options.ledger  folder
   * @param {string} options.logFile  what it writes to its standard error is added there
   * @param {(error: unknown) => void} options.onCrash  it ended by itself, or could not be started
   */
  constructor (options) {
    this.#options = options
    process.on('exit', this.#onExit)
  }

  /** Resolves once it runs. */
  async running () {
    await this.#started?.running
  }

  /** Returns at once: it can be killed while it is starting. */
  start () {
    const { flowFile, userDir, ledger, logFile, onCrash } = this.#options
    const log = openSync(logFile, 'a')
    const child = spawn(process.execPath, [PROGRAM, 'start', '--flows', flowFile, '--user-dir', userDir, '--port', '0'], {
      stdio: ['ignore', 'pipe', log],
      env: { ...process.env, SLUICE_SPOOL_LEDGER: ledger }
    })
    closeSync(log)
    const running = new Promise(resolve => {
      let said = ''
      child.stdout?.setEncoding('utf8').on('data', text => {
        said += text
        const match = RUNNING.exec(said)
        if (match) resolve(match[1])
      })
    })
    /** @type {Started} */
    const started = { child, isExpectedToEnd: false, running, ended: once(child, 'exit') }
    started.ended.then(async ([code, signal]) => {
      if (!started.isExpectedToEnd) onCrash(await this.#crash(code ?? signal))
    }).catch(onCrash)
    this.#started = started
  }

  /**
   * Changes its flow as the editor does.
   * @param {object[]} flow
   * @param {'full'|'flows'|'nodes'} deployment  what is restarted: `nodes` only those that differ
   */
  async deploy (flow, deployment) {
    const response = await fetch(`${await this.#started?.running}flows`, {
      method: 'POST',
      headers: { ...ONCE, 'content-type': 'application/json', 'node-red-deployment-type': deployment },
      body: JSON.stringify(flow)
    })
    if (!response.ok) {
      throw new SluiceError(
        'SLUICE_CHAOS_DEPLOY',
        `The gateway refused to change its flow (${response.status}): ${await response.text()}`
      )
    }
  }

  /** What it answers to GET. @param {string} path */
  async get (path) {
    const response = await fetch(new URL(path, await this.#started?.running), { headers: ONCE })
    return response.json()
  }

  async kill () { await this.#end('SIGKILL') }

  /** Has it store what is on its way, and end. */
  async stop () { await this.#end('SIGTERM') }

  /** Kills it for good. */
  async close () {
    await this.kill()
    process.off('exit', this.#onExit)
  }

  #onExit = () => { this.#started?.child.kill('SIGKILL') }

  /** @param {NodeJS.Signals} signal */
  async #end (signal) {
    const started = this.#started
    if (!started) return
    this.#started = null
    started.isExpectedToEnd = true
    started.child.kill(signal)
    await started.ended
  }

  /** @param {unknown} code */
  async #crash (code) {
    const log = await readFile(this.#options.logFile, 'utf8')
    return new SluiceError(
      'SLUICE_CHAOS_GATEWAY',
      `The gateway ended by itself (${code}). It last said:\n${log.split('\n').slice(-20).join('\n')}`
    )
  }
}
