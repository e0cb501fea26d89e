/** @typedef {import('./pdu.js').Values} Values */

/** A request with a waiting caller: settled once, by its answer, an error or its caller's signal. */
export class Job {
  /** how often a busy device has refused it */
  tries = 0
  /** it is sent a second time, since the first answer may have belonged to another request */
  isRepeated = false
  /** it is sent a second time, since the first connection was closed before an answer came */
  wasLost = false
  isSettled = false
  /** @type {Promise<Values>} */
  promise
  /** @type {(values: Values) => void} */
  #resolve = () => {}
  /** @type {(error: unknown) => void} */
  #reject = () => {}
  #signal
  #abort = () => {}

  /** @param {import('./pdu.js').Request} request @param {AbortSignal} [signal] @param {(job: Job) => void} [aborted] */
  constructor (request, signal, aborted) {
    this.request = request
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#signal = signal
    if (!signal) return
    this.#abort = () => {
      this.reject(signal.reason)
      aborted?.(this)
    }
    signal.addEventListener('abort', this.#abort)
  }

  /** @param {Values} values */
  resolve (values) {
    this.#settle()
    this.#resolve(values)
  }

  /** @param {unknown} error */
  reject (error) {
    this.#settle()
    this.#reject(error)
  }

  #settle () {
    this.isSettled = true
    this.#signal?.removeEventListener('abort', this.#abort)
  }
}
