import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, SluiceError } from '../base/errors.js'

const run = promisify(execFile)
const TIME_LIMIT_MS = 10_000
/** Of the time that systemd waits for a sign of life: two may fail. */
const WATCHDOG_SHARE = 1 / 3

/**
 * The gateway as a service that tells systemd how it is (sd_notify(3)): that it is ready, what it does, that its event loop turns, that it
 * stops. systemd listens on a datagram socket of Unix, which Node does not have; its own program `systemd-notify` does, and is wherever
 * systemd is. Where nobody listens, nothing is told.
 */
export class Service {
  /** Of `systemd-notify`; null where nobody listens. @type {NodeJS.ProcessEnv|null} */
  #environment
  #watchdogMs
  #log
  /** One after the other: what is told last has to arrive last. */
  #told = Promise.resolve()
  #untold = 0
  #isStopping = false
  /** @type {NodeJS.Timeout|undefined} */
  #timer

  /**
   * @param {NodeJS.ProcessEnv} environment  of the process; what is systemd's in it is taken out, or programs of the flow could speak for
   *   the gateway
   * @param {(line: string) => void} log
   */
  constructor (environment, log) {
    const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID = process.pid, PATH } = environment
    for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name]
    this.#environment = NOTIFY_SOCKET ? { NOTIFY_SOCKET, PATH } : null
    this.#watchdogMs = Number(WATCHDOG_PID) === process.pid ? Number(WATCHDOG_USEC ?? 0) / 1000 : 0
    this.#log = log
  }

  /** That it serves; from now on also that it lives. @param {string} status  a line for `systemctl status` */
  ready (status) {
    if (this.#isStopping) return
    this.#tell('READY=1', `STATUS=${status}`)
    if (this.#timer || !this.#environment || !(this.#watchdogMs > 0)) return
    this.#timer = setInterval(() => this.#live(), this.#watchdogMs * WATCHDOG_SHARE).unref()
  }

  /** That it stops; that it lives is still told, until it ends. Resolves when all has been told. */
  stopping () {
    this.#isStopping = true
    this.#tell('STOPPING=1', 'STATUS=Storing what is on its way.')
    return this.#told
  }

  /** A timer of the event loop that has to turn: where it hangs, nothing is told, and systemd starts the gateway anew. */
  #live () {
    if (this.#untold === 0) this.#tell('WATCHDOG=1')
  }

  /** @param {...string} lines */
  #tell (...lines) {
    const env = this.#environment
    if (!env) return
    this.#untold++
    this.#told = this.#told.then(() => run('systemd-notify', lines, { env, timeout: TIME_LIMIT_MS })).catch(cause => {
      this.#log(describe(new SluiceError('SLUICE_SERVICE_NOTIFY', `systemd could not be told ${lines[0]}: ${describe(cause)}`, { cause })))
    }).then(() => { this.#untold-- })
  }
}
