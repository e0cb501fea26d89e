import { fork } from 'node:child_process'
import { once } from 'node:events'
import { SluiceError } from '../../../base/errors.js'

/** A client that is a process of its own, so that what it uses can be told from what others use. It ends when the signal fires. */
export class Client {
  #child
  #exited
  #signal
  #stop

  /** @param {URL} url  of a module that calls `serve` @param {AbortSignal} signal */
  constructor (url, signal) {
    this.#child = fork(url, [], { serialization: 'advanced', execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.#exited = once(this.#child, 'exit')
    this.#signal = signal
    this.#stop = () => { this.#child.kill('SIGKILL') }
    signal.addEventListener('abort', this.#stop)
  }

  get pid () { return Number(this.#child.pid) }

  /**
   * @param {string} what @param {object} [given]
   * @returns {Promise<any>} what it answers
   * @throws {SluiceError} SLUICE_BENCH_CLIENT
   */
  async ask (what, given) {
    this.#child.send({ what, given }, () => {}) // that it has ended is told below
    const over = new AbortController()
    const answered = once(this.#child, 'message', { signal: over.signal })
    answered.catch(() => {})
    const ended = this.#exited.then(([code, signal]) => ({ error: `It ended with ${signal ?? code}.` }))
    const [first] = await Promise.race([answered, ended.then(end => [end])])
    over.abort()
    this.#signal.throwIfAborted()
    if (first.error === undefined) return first.answer
    throw new SluiceError('SLUICE_BENCH_CLIENT', `A client of the bench could not ${what}: ${first.error}`)
  }

  async end () {
    this.#signal.removeEventListener('abort', this.#stop)
    this.#stop()
    await this.#exited
  }
}
