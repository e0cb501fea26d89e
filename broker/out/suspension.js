import { everySecond } from '../../gateway/clock/heartbeat.js'

const MAX_DIFFERENCE_MS = 5000

/**
 * Notices that the process has been suspended, or goes on as a copy of another: the wall clock and the monotonic one disagree about how
 * much time went by. A clock that is set looks alike, and does no harm.
 */
export class Suspension {
  #wall
  #monotonic
  #offsetMs
  #stop
  #onSuspended

  /**
   * @param {() => void} onSuspended
   * @param {{wall?: () => number, monotonic?: () => number}} [clocks]  ms
   */
  constructor (onSuspended, { wall = () => Date.now(), monotonic = () => performance.now() } = {}) {
    this.#wall = wall
    this.#monotonic = monotonic
    this.#onSuspended = onSuspended
    this.#offsetMs = wall() - monotonic()
    this.#stop = everySecond(() => this.check())
  }

  /** Before anything is done that must not be done twice. */
  check () {
    const offsetMs = this.#wall() - this.#monotonic()
    const differenceMs = Math.abs(offsetMs - this.#offsetMs)
    this.#offsetMs = offsetMs
    if (differenceMs > MAX_DIFFERENCE_MS) this.#onSuspended()
  }

  close () {
    this.#stop()
  }
}
