/**
 * Where a part of the gateway says what an operator should know. `console` is one.
 *
 * @typedef {{info: (text: string) => void, warn: (text: string) => void, error: (text: string) => void}} Log
 */

const INTERVAL_MS = 60_000
/** Of which so many are told apart within a minute: others may choose their names. */
const MAX_TOPICS = 100
/** What is not told apart. */
const REST = Symbol('the rest')

/**
 * Says a thing at once, and again at most once a minute with how often it has happened: an outage of a night is a page of log, not a disk
 * of it.
 */
export class QuietLog {
  /** What was said, in that order. @type {Map<string|symbol, {saidMs: number, held: number}>} */
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
    const due = this.due(topic, text)
    if (due !== null) this.#log?.[level](due)
  }

  /** The text, where it is to be said now: for who says it elsewhere than in a log. @param {string} topic @param {string} text */
  due (topic, text) {
    const nowMs = this.#now()
    const key = this.#topics.has(topic) || this.#hasRoom(nowMs) ? topic : REST
    const earlier = this.#topics.get(key)
    if (earlier && nowMs - earlier.saidMs < INTERVAL_MS) {
      earlier.held++
      return null
    }
    this.#topics.delete(key)
    this.#topics.set(key, { saidMs: nowMs, held: 0 })
    return earlier?.held ? `${text} (${earlier.held} more times since this was last said)` : text
  }

  /** Forgets what was said long ago. @param {number} nowMs */
  #hasRoom (nowMs) {
    for (const [topic, { saidMs }] of this.#topics) {
      if (nowMs - saidMs < INTERVAL_MS) break
      if (topic !== REST) this.#topics.delete(topic)
    }
    return this.#topics.size < MAX_TOPICS
  }
}
