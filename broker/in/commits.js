import { MAX_CONTROL_EPOCHS, MAX_CONTROL_RANGES, MAX_CONTROL_SOURCES } from '../control-messages.js'

/**
 * @typedef {import('../control-messages.js').Commit} Commit
 * @typedef {import('./contract.js').WiredSink} WiredSink
 *
 * @typedef {object} Answer  what is due to a gateway
 * @property {boolean} isForced  even where it says nothing new
 * @property {number} sinceMs  by a reading that began no earlier
 * @property {number} againMs  and again by one that began no earlier than this
 *
 * @typedef {{store: string, number: number, beganMs: number}} Reading
 */

/** A message has at most so many bytes; what does not fit goes into another. */
const MAX_BYTES = 2 ** 19
/** Tells the readings of this process from those of any other. */
const STARTED_MS = Math.round(performance.timeOrigin)

/**
 * The answers to the heads: what a reading of each sink's database has of what they list. Every head is answered, by a reading that is as
 * recent as it is; what nobody asked for is said where it is new.
 */
export class Commits {
  /** @type {Map<string, Map<string, Answer>>} sink → gateway */
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

  /**
   * Something is new for a gateway.
   * @param {string} sink  its id
   * @param {string} gateway
   * @param {Partial<Answer>} [answer]
   */
  add (sink, gateway, { isForced = false, sinceMs = -Infinity } = {}) {
    const gateways = this.#due.get(sink) ?? new Map()
    const before = gateways.get(gateway)
    this.#due.set(sink, gateways.set(gateway, {
      isForced: isForced || before?.isForced === true,
      sinceMs: before?.sinceMs ?? sinceMs, // heads may come faster than a database can be read
      againMs: Math.max(sinceMs, before?.againMs ?? -Infinity)
    }))
  }

  /** The sink's database has been read, or is to be read. @param {string} sink @param {Partial<Answer>} [answer] */
  read (sink, answer) { for (const gateway of this.#streams.gateways) this.add(sink, gateway, answer) }

  /** Whether some answer has to wait for a newer reading. @param {string} sink @param {number} beganMs  the last one */
  isWaiting (sink, beganMs) { return [...this.#due.get(sink)?.values() ?? []].some(({ againMs }) => againMs > beganMs) }

  /**
   * @param {WiredSink[]} sinks
   * @param {(id: string, gateway: string) => Reading|undefined} readingOf  the last; none where nothing can be answered now
   */
  publish (sinks, readingOf) {
    for (const sink of sinks) {
      const due = this.#due.get(sink.id)
      for (const [gateway, answer] of due ?? []) {
        const reading = readingOf(sink.id, gateway)
        if (!reading || reading.beganMs < answer.sinceMs) continue
        if (reading.beganMs >= answer.againMs) due?.delete(gateway)
        else answer.sinceMs = answer.againMs
        const commits = this.#answers(sink, reading.store, gateway)
        const key = JSON.stringify([sink.id, gateway])
        const text = JSON.stringify(commits)
        if (text === this.#sent.get(key) && !answer.isForced) continue
        this.#sent.set(key, text)
        for (const commit of commits) this.#send(sink, gateway, { ...commit, reading: [STARTED_MS, reading.number] })
      }
    }
  }

  /** @param {WiredSink} sink @param {string} store @param {string} gateway @returns {Commit[]} */
  #answers ({ id, label }, store, gateway) {
    /** @type {Commit[]} */
    const commits = []
    let bytes = Infinity
    let sources = 0
    for (const stream of this.#streams.of(gateway)) {
      const name = JSON.stringify(stream.source)
      let epochs = Infinity // of this source in the present message
      for (const [epoch, runs] of Object.entries(stream.runs(id, MAX_CONTROL_RANGES))) {
        const size = JSON.stringify([epoch, runs]).length + Buffer.byteLength(name)
        const isNew = epochs === Infinity
        if (bytes + size > MAX_BYTES || epochs === MAX_CONTROL_EPOCHS || (isNew && sources === MAX_CONTROL_SOURCES)) {
          commits.push({ store, label, sources: Object.create(null) })
          bytes = sources = 0
          epochs = Infinity
        }
        const { sources: bySource } = commits[commits.length - 1]
        if (epochs === Infinity) {
          bySource[stream.source] = {}
          sources++
          epochs = 0
        }
        bySource[stream.source][epoch] = runs
        bytes += size
        epochs++
      }
    }
    return commits
  }
}
