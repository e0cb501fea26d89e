import { everySecond } from '../../gateway/clock/heartbeat.js'

/** Looks once a second, when all that beats does, and earlier when that is asked for: nothing wakes up for what does not change. */
export class Looks {
  #look
  #stop
  /** @type {NodeJS.Timeout|undefined} */
  #timer
  #dueMs = Infinity
  #isClosed = false

  /** @param {() => void} look  must not throw */
  constructor (look) {
    this.#look = look
    this.#stop = everySecond(this.#run)
  }

  /** Then at the latest. @param {number} ms  from now */
  within (ms) {
    const dueMs = performance.now() + ms
    if (dueMs >= this.#dueMs || this.#isClosed) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(this.#run, ms)
  }

  close () {
    this.#isClosed = true
    this.#stop()
    clearTimeout(this.#timer)
  }

  #run = () => {
    clearTimeout(this.#timer)
    this.#dueMs = Infinity
    this.#look()
  }
}
