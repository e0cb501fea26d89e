import { MAX_CONTROL_RANGES } from '../control-messages.js'

/**
 * @typedef {import('../control-messages.js').Commit} Commit
 * @typedef {import('./contract.js').WiredSink} WiredSink
 */

/** A message has at most so many bytes; sources that do not fit go into another. */
const MAX_BYTES = 2 ** 19

/**
 * The answers to the heads: what a reading of each sink's database has of what they list. An answer that says nothing new is not sent,
 * unless a spool has shown that it does not know it.
 */
export class Commits {
  /** @type {Map<string, Map<string, boolean>>} sink → gateway → even where it says nothing new */
  #due = new Map()
  /** @type {Map<string, string>} sink and gateway → the last answer */
  #sent = new Map()
  #streams
  #send

  /**
   * @param {import('./streams.js').Streams} streams
   * @param {(sink: WiredSink, gateway: string, commit: Commit) => void} send
   */
  constructor (streams, send) {
    this.#streams = streams
    this.#send = send
  }

  /** Something is new for a gateway. @param {string} sink  its id @param {string} gateway @param {boolean} [isForced] */
  add (sink, gateway, isForced = false) {
    const gateways = this.#due.get(sink) ?? new Map()
    this.#due.set(sink, gateways.set(gateway, isForced || gateways.get(gateway) === true))
  }

  /** The sink's database has been read. @param {string} sink @param {boolean} [isForced] */
  read (sink, isForced) { for (const gateway of this.#streams.gateways) this.add(sink, gateway, isForced) }

  /**
   * @param {WiredSink[]} sinks
   * @param {(id: string, gateway: string) => string|undefined} storeOf  the store that was read; none where nothing can be answered now
   */
  publish (sinks, storeOf) {
    for (const sink of sinks) {
      const due = this.#due.get(sink.id)
      for (const [gateway, isForced] of due ?? []) {
        const store = storeOf(sink.id, gateway)
        if (store === undefined) continue
        due?.delete(gateway)
        const commits = this.#answers(sink, store, gateway)
        const key = JSON.stringify([sink.id, gateway])
        const text = JSON.stringify(commits)
        if (text === this.#sent.get(key) && !isForced) continue
        this.#sent.set(key, text)
        for (const commit of commits) this.#send(sink, gateway, commit)
      }
    }
  }

  /** @param {WiredSink} sink @param {string} store @param {string} gateway @returns {Commit[]} */
  #answers ({ id, label }, store, gateway) {
    /** @type {Commit[]} */
    const commits = []
    let bytes = Infinity
    for (const stream of this.#streams.of(gateway)) {
      if (!stream.headKnown) continue
      const epochs = stream.runs(id, MAX_CONTROL_RANGES)
      const size = JSON.stringify(epochs).length + stream.source.length
      if (bytes + size > MAX_BYTES) {
        commits.push({ store, label, sources: Object.create(null) })
        bytes = 0
      }
      bytes += size
      commits[commits.length - 1].sources[stream.source] = epochs
    }
    return commits
  }
}
