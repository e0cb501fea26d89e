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

  /** @param {object} load @param {'threads'|'processes'} as @param {URL} [program]  that of clients which only write, or another */
  constructor (load, as, program = PROGRAM) {
    const { events, pid, send, end } = as === 'processes' ? inProcess(program, load) : inThread(program, load)
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
  async run () { return this.tell('run') }

  /** Its sink. @returns {Promise<number>} rows that are stored of batches that failed */
  async close () { return (await this.tell('close')).unansweredRows }

  /** @param {string} message @returns {Promise<any>} its answer */
  async tell (message) {
    this.send(message)
    return this.#answer()
  }

  end () { return this.#end() }

  async #answer () {
    const [answer] = await Promise.race([once(this.#events, 'message'), this.#failed])
    if ('failed' in Object(answer)) return this.#failed
    return answer
  }
}

/** @param {URL} program @param {object} load */
function inThread (program, load) {
  const worker = new Worker(program, { workerData: load })
  return {
    /** @type {import('node:events').EventEmitter} */
    events: worker,
    pid: process.pid,
    send: (/** @type {string} */ message) => worker.postMessage(message),
    end: async () => { await worker.terminate() }
  }
}

/** @param {URL} program @param {object} load */
function inProcess (program, load) {
  const child = fork(fileURLToPath(program), { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
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
