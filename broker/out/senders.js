/**
 * Brokers send no more before so many messages are acknowledged: the smallest window that is usual is 20. When this many wait and none
 * has come for a moment, no more may come before they are done.
 */
const MANY_WAITING = 8
const PAUSE_MS = 5
/** Where it is not known whether senders wait, a pause must be so long; then they are known to, for a while. */
const MAX_PROBE_MS = 50
const WAITING_FOR_MS = 10_000
const OWN_TIMES_FOR_MS = 1000

/**
 * Learns whether those who send messages wait for them to be done before they send more, as brokers do, or send at times of their own, as
 * timers do: then some come after a pause though none was done.
 */
export class Senders {
  /** Messages that are not done. */
  waiting = 0
  #lastMs = 0
  /** Since the last message came. */
  #hasEnded = false
  /** Until then they are taken to wait. */
  #waitingUntilMs = -Infinity
  /** Until then they are known not to. */
  #ownTimesUntilMs = -Infinity
  #probeMs

  /** @param {number} ageMs  after which messages are done in any case */
  constructor (ageMs) {
    this.#probeMs = Math.min(MAX_PROBE_MS, ageMs / 2)
  }

  /** A message has come. @param {number} nowMs */
  begin (nowMs) {
    const isOwnTime = this.areMany && !this.#hasEnded && nowMs - this.#lastMs >= PAUSE_MS
    if (isOwnTime) this.#ownTimesUntilMs = nowMs + OWN_TIMES_FOR_MS
    this.#lastMs = nowMs
    this.#hasEnded = false
    this.waiting++
  }

  /** A message is done. */
  end () {
    this.waiting--
    this.#hasEnded = true
  }

  get areMany () { return this.waiting >= MANY_WAITING }

  /**
   * How much longer nothing must come for all to be waiting: 0 when they are, infinite where they do not.
   * @param {number} nowMs
   */
  pauseLeftMs (nowMs) {
    if (!this.areMany || nowMs < this.#ownTimesUntilMs) return Infinity
    const isKnown = nowMs < this.#waitingUntilMs
    const leftMs = this.#lastMs + (isKnown ? PAUSE_MS : this.#probeMs) - nowMs
    if (leftMs > 0) return leftMs
    if (!isKnown) this.#waitingUntilMs = nowMs + WAITING_FOR_MS
    return 0
  }
}
