import { Tracker } from './tracker.js'
import { isEpochOf } from './units.js'

/**
 * @typedef {import('../../gateway/kafka/group.js').Assigned} Assigned
 * @typedef {import('../../gateway/kafka/group.js').Place} Place
 * @typedef {import('../../gateway/kafka/group.js').Stream} KafkaStream
 * @typedef {import('../in/stream.js').Stream} Source
 *
 * @typedef {object} Reading  of a stream, from where it began
 * @property {KafkaStream} stream
 * @property {boolean} isOver
 * @property {Tracker} tracker
 * @property {bigint} from  the first offset of which no sink that reads it can lack anything, once it is dealt with
 * @property {bigint} reached  all before it is dealt with
 *
 * @typedef {object} OpenStreamsOptions
 * @property {'earliest'|'latest'} begin  where the group has nothing yet that says where to go on
 * @property {() => Source[]} sources  what the databases have
 * @property {() => string[]} sinks  those that a batch waits for
 * @property {(stream: KafkaStream, offset: bigint, note: string) => void} commit  to the group
 * @property {import('../../gateway/base/log.js').Log} log
 */

/** Noted with an offset: it says nothing, as a database was set back. */
const AGAIN = 'again'

/** Instead of an offset. */
const NOTHING = -1

/**
 * Where each stream begins, how far it has been dealt with, and where it ends.
 *
 * It goes on where the group has committed to. With that the group notes the last record batch that had rows: a database that lacks it was
 * set back, and all is read again that the brokers still have. So it is, whoever gets the stream then, where that was found on the way.
 */
export class OpenStreams {
  /** @type {Map<KafkaStream, Reading>} */
  #open = new Map()
  /** Names of those that are to be read again, whether the group has been told or not. @type {Set<string>} */
  #again = new Set()
  /** @type {WeakSet<KafkaStream>} */
  #ended = new WeakSet()
  #options
  counters = { lost: 0, setBack: 0 }

  /** @param {OpenStreamsOptions} options */
  constructor (options) {
    this.#options = options
  }

  get size () { return this.#open.size }

  /** @param {KafkaStream} stream */
  get (stream) { return this.#open.get(stream) }

  /** Whether some database is not known to have what was noted. @param {Assigned} assigned */
  lacks ({ stream, committed }) {
    const noted = notedIn(committed)
    return noted !== null && this.#newestOf(stream).some(newest => newest < noted)
  }

  /** Undefined where it has ended meanwhile. @param {Assigned} assigned @returns {Place|undefined} */
  begin (assigned) {
    const { stream, committed, first, end, isFirst } = assigned
    if (this.#ended.has(stream)) return
    const { begin, commit } = this.#options
    const noted = notedIn(committed)
    if (this.lacks(assigned)) this.#noteSetBack(stream, first)
    const isAgain = this.#again.delete(nameOf(stream)) || committed?.note === AGAIN
    const unknown = begin === 'latest' && isFirst && this.#newestOf(stream).length === 0 ? end : first
    const place = isAgain ? { offset: first } : committed ?? { offset: unknown }
    const tracker = new Tracker(isAgain ? null : noted, (next, note) => {
      if (reading.isOver) return
      reading.reached = next
      commit(stream, next, note === null ? '' : String(note))
    })
    const from = isAgain || noted === null ? place.offset : noted + 1n
    const reading = { stream, isOver: false, tracker, from, reached: place.offset }
    this.#open.set(stream, reading)
    // Who goes on there must not skip what comes before anything is stored.
    if (!committed || isAgain) commit(stream, place.offset, '')
    return place
  }

  /** @param {KafkaStream} stream @param {bigint} first */
  #noteSetBack (stream, first) {
    this.#again.add(nameOf(stream))
    const last = this.#newestOf(stream).reduce((least, its) => its < least ? its : least)
    const gone = last > NOTHING && first > last ? first - last - 1n : 0n
    this.counters.setBack++
    this.counters.lost += Number(gone)
    this.#options.log.warn(`A database lacks what it had stored of ${nameOf(stream)}: it is read again from offset ${first}.` +
      (gone > 0n ? ` The brokers no longer have the ${gone} before it: what of them was not stored is lost.` : ''))
  }

  /**
   * The offset of the newest unit of a stream of which each database has something. One that has nothing of its topic is new, and is left
   * out; one that only has nothing of this partition may have been set back to before that had anything: -1.
   * @param {KafkaStream} stream
   */
  #newestOf (stream) {
    const [isIts, isOfTopic] = [isEpochOf(stream), isEpochOf({ topicId: stream.topicId })]
    const sources = this.#options.sources()
    return this.#options.sinks().flatMap(id => {
      const ends = sources.flatMap(source => source.storedBy(id).ends().filter(({ epoch }) => isOfTopic(epoch)))
      const newest = ends.reduce((most, { epoch, last }) => isIts(epoch) ? Math.max(most, last) : most, NOTHING)
      return ends.length === 0 ? [] : [BigInt(newest)]
    })
  }

  /** @param {KafkaStream} stream */
  end (stream) {
    const reading = this.#open.get(stream)
    if (reading) reading.isOver = true
    this.#open.delete(stream)
    this.#ended.add(stream)
  }

  /** What the brokers have removed before it was read. @param {KafkaStream} stream @param {bigint} from @param {bigint} to */
  lose (stream, from, to) {
    this.counters.lost += Number(to - from)
    this.#options.log.error(`${nameOf(stream)}: the brokers have removed offsets ${from} to ${to - 1n} before they were read. ` +
      'What was in them and not stored is lost: raise the retention of the topic.')
    this.#open.get(stream)?.tracker.begin(to, 0)
  }

  /** A database was set back by so many batches: nothing counts any more of how far they are. @param {number} gone */
  setBack (gone) {
    this.counters.setBack += gone
    for (const reading of this.#open.values()) {
      reading.isOver = true
      this.#again.add(nameOf(reading.stream))
      this.#options.commit(reading.stream, reading.reached, AGAIN)
    }
  }

  /** Commit records below these may be merged: nothing comes any more into the gaps between them, but where somebody has skipped some. */
  get heads () {
    const ids = this.#options.sinks()
    const sources = this.#options.sources()
    return [...this.#open.values()].flatMap(({ stream, from, reached }) => {
      const isIts = isEpochOf(stream)
      const [first, last] = [Number(reached), Number(reached)]
      return sources.flatMap(source => {
        const epochs = new Set(ids.flatMap(id => source.storedBy(id).ends().map(({ epoch }) => epoch)))
        return [...epochs].filter(isIts).map(epoch => {
          return { gateway: source.gateway, source: source.source, epoch, first, last, sparseFrom: Number(from) }
        })
      })
    })
  }
}

/** The last record batch that had rows, as the group has noted it. @param {Assigned['committed']} committed */
function notedIn (committed) {
  return /^\d+$/.test(committed?.note ?? '') ? BigInt(/** @type {any} */ (committed).note) : null
}

/** @param {KafkaStream} stream */
export function nameOf ({ topic, partition }) {
  return `partition ${partition} of topic ${topic}`
}
