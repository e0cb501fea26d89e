/**
 * Where a part of the gateway says what an operator should know. `console` is one.
 *
 * @typedef {{info: (text: string) => void, warn: (text: string) => void, error: (text: string) => void}} Log
 */

const INTERVAL_MS = 60_000

/**
 * Says a thing at once, and again at most once a minute with how often it has happened: an outage of a night is a page of log, not a disk
 * of it.
 */
export class QuietLog {
  /** @type {Map<string, {saidMs: number, held: number}>} */
  #topics = new Map()
  #log
  #now

  /**
   * @param {Log|undefined} log
   * @param {() => number} now  monotonic milliseconds
   */
  constructor (log, now) {
    this.#log = log
    this.#now = now
  }

  /** @param {'info'|'warn'} level @param {string} topic  what counts as the same @param {string} [text] */
  say (level, topic, text = topic) {
    const nowMs = this.#now()
    const earlier = this.#topics.get(topic)
    if (earlier && nowMs - earlier.saidMs < INTERVAL_MS) {
      earlier.held++
      return
    }
    this.#log?.[level](earlier?.held ? `${text} (${earlier.held} more times since this was last said)` : text)
    for (const [other, { saidMs }] of this.#topics) {
      if (nowMs - saidMs >= INTERVAL_MS) this.#topics.delete(other)
    }
    this.#topics.set(topic, { saidMs: nowMs, held: 0 })
  }
}
