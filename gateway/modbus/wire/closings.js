/**
 * Whether the device at the other end closes the connection after each reply, as some do. What is sent into a closing connection is lost:
 * once this is known, one request is sent on each, and the next one waits until it is closed, or for a timeout where it is not.
 */
export class Closings {
  #isHabit = false
  /** on this connection */
  #answers = 0
  #lastAnswerMs = -Infinity

  /** The most exchanges at a time. */
  get capacity () { return this.#isHabit ? 1 : Infinity }

  opened () {
    this.#answers = 0
  }

  answered () {
    this.#answers++
    this.#lastAnswerMs = performance.now()
  }

  /** Until when a request waits for the connection to be closed. @param {number} timeoutMs */
  untilMs (timeoutMs) {
    return this.#isHabit && this.#answers > 0 ? this.#lastAnswerMs + timeoutMs : -Infinity
  }

  /** A request is sent: one on which nothing waited any longer. */
  sent () {
    if (this.#answers > 0) this.#isHabit = false
  }

  /** The other side has closed it. @param {boolean} isAsked  a request is pending @returns {boolean} whether it had answered before */
  closed (isAsked) {
    if (isAsked && this.#answers < 2) this.#isHabit = this.#answers === 1
    return this.#answers > 0
  }
}
