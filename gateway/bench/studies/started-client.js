import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../base/errors.js'

const PROGRAM = new URL('client.js', import.meta.url)

/** A client that has been started, in a thread or a process of its own: see clients.js. */
export class StartedClient {
  #events
  #end
  /** @type {Promise<never>} */
  #failed

  /** @param {object} load @param {'threads'|'processes'} as */
  constructor (load, as) {
    const { events, pid, send, end } = as === 'processes' ? inProcess(load) : inThread(load)
    /** That it is in. */
    this.pid = pid
    this.send = send
    this.#events = events
    this.#end = end
    this.#failed = new Promise((_resolve, reject) => {
      const fail = (/** @type {unknown} */ cause) => {
        reject(new SluiceError('SLUICE_BENCH_CLIENT', 'A client of the bench ended.', { cause }))
      }
      events.on('error', fail)
      events.on('exit', fail)
      events.on('message', ({ failed }) => { if (failed !== undefined) fail(new Error(failed)) })
    })
    this.#failed.catch(() => {}) // told by whatever waits for it
  }

  async ready () { await this.#answer() }

  /** @returns {Promise<import('./clients.js').Written>} */
  async run () {
    this.send('run')
    return this.#answer()
  }

  /** Its sink. @returns {Promise<number>} rows that are stored of batches that failed */
  async close () {
    this.send('close')
    return (await this.#answer()).unansweredRows
  }

  end () { return this.#end() }

  async #answer () {
    const [answer] = await Promise.race([once(this.#events, 'message'), this.#failed])
    if ('failed' in Object(answer)) return this.#failed
    return answer
  }
}

/** @param {object} load */
function inThread (load) {
  const worker = new Worker(PROGRAM, { workerData: load })
  return {
    /** @type {import('node:events').EventEmitter} */
    events: worker,
    pid: process.pid,
    send: (/** @type {string} */ message) => worker.postMessage(message),
    end: async () => { await worker.terminate() }
  }
}

/** @param {object} load */
function inProcess (load) {
  const child = fork(fileURLToPath(PROGRAM), { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const ended = new Promise(resolve => { child.once('exit', resolve).once('error', resolve) })
  child.send(load)
  return {
    /** @type {import('node:events').EventEmitter} */
    events: child,
    pid: Number(child.pid),
    send: (/** @type {string} */ message) => { child.send(message, () => {}) }, // its end is told by itself
    async end () {
      child.kill('SIGKILL')
      await ended
    }
  }
}
