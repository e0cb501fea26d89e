import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {object} Heard  the newest message of a topic
 * @property {string} topic
 * @property {Buffer} payload  empty where it is too long
 * @property {number} bytes  that it has
 * @property {string} [contentType]
 * @property {import('../../gateway/messages/mapping/try.js').Reads} [read]  where it is read in another way than one of MQTT
 *
 * @typedef {(listening: Listening) => Promise<{begun: Promise<unknown>, close: () => Promise<unknown>}>} Open  has it take what comes
 */

/** What is kept: topics, others beside them, and the bytes of each message. */
const MAX_TOPICS = 200
const MAX_OTHERS = 50
const MAX_MESSAGE_BYTES = 65_536
/** After so much, a broker has been listened to enough. */
const MAX_HEARD_MESSAGES = 20_000
const MAX_HEARD_BYTES = 64 * 2 ** 20

/** Listens to a broker for a while, at once when made, and keeps the newest message of each topic. */
export class Listening {
  #durationMs
  /** @type {PromiseWithResolvers<void>} */
  #ending = Promise.withResolvers()
  /** @type {Map<string, Heard>} */
  #heard = new Map()
  #others = 0
  #messages = 0
  #bytes = 0
  #endsAt = Infinity
  /** @type {'connecting'|'listening'|'ended'} */
  #state = 'connecting'
  /** Why it ended before its time. @type {unknown} */
  problem = null

  /** @param {Open} open @param {{durationMs?: number}} [more] */
  constructor (open, { durationMs = 30_000 } = {}) {
    this.#durationMs = durationMs
    /** Resolves once the broker has seen the last of it. */
    this.ended = this.#run(open).catch(error => { this.problem = error }).finally(() => { this.#state = 'ended' })
  }

  get state () {
    const remainingMs = this.#state === 'listening' ? Math.max(0, Math.round(this.#endsAt - performance.now())) : 0
    return { state: this.#state, remainingMs, durationMs: this.#durationMs, messages: this.#messages, topics: this.#heard.size }
  }

  /** By topic. */
  get messages () {
    return [...this.#heard.values()].sort((a, b) => a.topic < b.topic ? -1 : 1)
  }

  /** Whether topics are kept that are not asked for. */
  get wantsOthers () { return this.#others < MAX_OTHERS }

  /**
   * @param {Omit<Heard, 'bytes'>} message
   * @param {boolean} [isOther]  its topic is not asked for
   */
  take ({ payload, ...message }, isOther = false) {
    const bytes = payload.length
    this.count(bytes)
    if (!this.#heard.has(message.topic) && !this.#admits(isOther)) return
    const kept = bytes > MAX_MESSAGE_BYTES ? Buffer.alloc(0) : Buffer.from(payload) // not the chunk that it is cut from
    this.#heard.set(message.topic, { ...message, payload: kept, bytes })
  }

  /** One that is not kept. @param {number} bytes */
  count (bytes) {
    this.#messages++
    this.#bytes += bytes
    if (this.#messages >= MAX_HEARD_MESSAGES || this.#bytes >= MAX_HEARD_BYTES) this.#ending.resolve()
  }

  /** @param {unknown} problem */
  fail (problem) { this.#ending.reject(problem) }

  /** What has been heard stays. */
  async close () {
    this.#ending.resolve()
    await this.ended
  }

  /** @param {Open} open */
  async #run (open) {
    const over = this.#ending.promise
    over.catch(() => {}) // it closes in the end
    const { begun, close } = await open(this)
    try {
      await Promise.race([begun, over])
      this.#endsAt = performance.now() + this.#durationMs
      this.#state = 'listening'
      await Promise.race([sleep(this.#durationMs, null, { ref: false }), over])
    } finally {
      await close()
    }
  }

  /** @param {boolean} isOther */
  #admits (isOther) {
    if (!isOther) return this.#heard.size - this.#others < MAX_TOPICS
    if (!this.wantsOthers) return false
    this.#others++
    return true
  }
}
