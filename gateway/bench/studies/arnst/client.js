import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../../base/errors.js'
import { watching } from '../resources.js'

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

  /**
   * Has it begin, and watches it and the server once it has warmed up.
   * @param {import('../../sinks/sink-bench.js').Running} running
   * @param {{warmUpSeconds: number, seconds: number, progress: (text: string) => void}} how
   */
  async watched (running, { warmUpSeconds, seconds, progress }) {
    const signal = this.#signal
    await this.ask('begin', {})
    progress('warm-up')
    await sleep(warmUpSeconds * 1000, undefined, { signal })
    await this.ask('lap')
    progress('measuring')
    const { result: lap, usage } = await watching({ running, clientPid: this.pid }, async () => {
      await sleep(seconds * 1000, undefined, { signal })
      return this.ask('lap')
    })
    return { lap, usage }
  }

  async end () {
    this.#signal.removeEventListener('abort', this.#stop)
    this.#stop()
    await this.#exited
  }
}
