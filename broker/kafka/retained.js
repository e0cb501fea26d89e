import { MAX_CONTROL_BYTES } from '../control-messages.js'
import { parseTopic } from '../topics.js'

/** Anybody may have written them: an honest cluster has a few for each gateway. */
const MAX_TOPICS = 20_000
const MAX_BYTES = 2 ** 28
const KINDS = ['head', 'sinks']

/** What MQTT brokers call retained: the newest of each topic. */
export class Retained {
  /** @type {Map<string, Buffer>} */
  #payloads = new Map()
  #bytes = 0

  /**
   * @param {string} topic
   * @param {Buffer} payload  empty: nothing any more
   * @returns {boolean} false: it is none of the protocol, or too much
   */
  set (topic, payload) {
    const before = this.#payloads.get(topic)
    const bytes = payload.length - (before?.length ?? 0)
    if (!KINDS.includes(parseTopic(topic)?.kind ?? '') || payload.length > MAX_CONTROL_BYTES) return false
    if (this.#bytes + bytes > MAX_BYTES) return false
    if (!before && this.#payloads.size >= MAX_TOPICS) return false
    this.#bytes += bytes
    if (payload.length > 0) this.#payloads.set(topic, Buffer.from(payload)) // not the chunk that it is cut from
    else this.#payloads.delete(topic)
    return true
  }

  [Symbol.iterator] () { return this.#payloads[Symbol.iterator]() }

  clear () {
    this.#payloads.clear()
    this.#bytes = 0
  }
}
