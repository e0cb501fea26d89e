import { RangeSet } from '../gateway/batch/ranges.js'
import { epochCounter } from './spool/segment.js'

/**
 * @typedef {object} Epoch  what is known of one epoch of a source
 * @property {boolean} announced  some head named it; once none does, the spool has let go of all of it
 * @property {number} first  below it the spool holds nothing any more
 * @property {number} last  the newest the spool is known to hold; -1: none
 * @property {RangeSet} lost  damaged in the spool
 * @property {number} seen  the newest that came on `data`; -1: none
 * @property {RangeSet} parked
 */

/**
 * What a consumer knows of one source: what its spool holds, what came, what each sink's database has. It tells what a sink lacks.
 */
export class Stream {
  /** @type {Map<string, Epoch>} */
  epochs = new Map()
  /** @type {Map<string, Map<string, RangeSet>>} sink → epoch → stored */
  #stored = new Map()
  /** @type {Set<string>} `epoch/seq` of what is held in this process */
  #held = new Set()
  /** @type {Map<string, number>} sink → batches it could not get when it was new */
  #shortfall = new Map()

  /** @param {string} gateway @param {string} source */
  constructor (gateway, source) {
    this.gateway = gateway
    this.source = source
    this.headKnown = false
    this.lastDataMs = Date.now()
  }

  /** The spool says what it holds. @param {{epoch: string, first: number, last: number, lost?: [number, number][]}[]} heads */
  setHead (heads) {
    this.headKnown = true
    const named = new Set(heads.map(({ epoch }) => epoch))
    for (const [name, epoch] of this.epochs) if (epoch.announced && !named.has(name)) epoch.first = epoch.last + 1
    for (const { epoch, first, last, lost } of heads) {
      Object.assign(this.#epoch(epoch), { announced: true, first, last: Math.max(last, this.#epoch(epoch).last), lost: new RangeSet(lost) })
    }
  }

  /** A batch came on `data`, where a source's batches come in order. @param {string} epoch @param {number} seq */
  observe (epoch, seq) {
    const known = this.#epoch(epoch)
    known.seen = Math.max(known.seen, seq)
    known.last = Math.max(known.last, seq)
  }

  /** @param {string} epoch @param {number} seq */
  hold (epoch, seq) { this.#held.add(`${epoch}/${seq}`) }

  /** @param {string} epoch @param {number} seq */
  letGo (epoch, seq) { this.#held.delete(`${epoch}/${seq}`) }

  /** @param {string} epoch @param {number} seq */
  park (epoch, seq) { this.#epoch(epoch).parked.add(seq) }

  /** @param {string} epoch @param {number} seq */
  isParked (epoch, seq) { return this.epochs.get(epoch)?.parked.has(seq) ?? false }

  /** The database's word on what it has stored. @param {string} sink @param {import('../gateway/sinks/sink.js').Committed[]} committed */
  setStored (sink, committed) {
    this.#stored.set(sink, new Map(committed.map(({ epoch, ranges }) => [epoch, new RangeSet(ranges)])))
  }

  /** @param {string} sink @param {string} epoch @param {number} seq */
  addStored (sink, epoch, seq) {
    this.#storedIn(sink, epoch).add(seq)
  }

  /** @param {string} sink @param {string} epoch @param {number} seq */
  isStored (sink, epoch, seq) {
    return this.#stored.get(sink)?.get(epoch)?.has(seq) ?? false
  }

  /** What the sink has of the epochs the spool still holds: for `commit`. @param {string} sink */
  storedRanges (sink) {
    const stored = this.#stored.get(sink) ?? new Map()
    return Object.fromEntries([...stored].filter(([epoch]) => !this.headKnown || this.#isLive(epoch)))
  }

  /**
   * Ranges that some of the sinks lacks and the spool holds, oldest first. What is below a batch that came was sent and did not arrive; what
   * is above the newest may be on its way, unless the stream has gone quiet.
   * @param {string[]} sinks
   * @param {{limit: number, quiet: boolean}} options  limit: at most so many batches
   * @returns {{epoch: string, first: number, last: number}[]}
   */
  lacks (sinks, { limit, quiet }) {
    const newestSeen = Math.max(-1, ...[...this.epochs].filter(([, { seen }]) => seen >= 0).map(([name]) => epochCounter(name)))
    const lacking = []
    for (const [epoch, { first, last, lost, seen, parked }] of this.#inOrder()) {
      const sentUpTo = quiet || epochCounter(epoch) < newestSeen ? last : seen - 1
      const missing = new RangeSet(sinks.flatMap(sink => this.#storedIn(sink, epoch).missing(first, sentUpTo)))
      for (const [from, to] of without(missing.ranges, lost, parked, this.#heldOf(epoch))) {
        if (limit <= 0) return lacking
        const end = Math.min(to, from + limit - 1)
        lacking.push({ epoch, first: from, last: end })
        limit -= end - from + 1
      }
    }
    return lacking
  }

  /**
   * How many batches the sink can never get: damaged, or dropped by the spool before the sink had them. What was gone when the sink was new
   * is its shortfall, not a loss.
   * @param {string} sink
   */
  lost (sink) {
    const total = this.#goneFor(sink)
    const shortfall = this.#shortfall.get(sink) ?? 0
    return { lost: total - shortfall, shortfall }
  }

  /** A new or set-back table starts at what the spool still holds. @param {string} sink */
  startAtFirst (sink) {
    this.#shortfall.set(sink, this.#goneFor(sink))
  }

  /** @param {string} sink */
  hasStoredAny (sink) {
    return [...this.#stored.get(sink)?.values() ?? []].some(({ ranges }) => ranges.length > 0)
  }

  /** What the spool holds, for compaction. */
  heads () {
    return [...this.epochs].map(([epoch, { first, last }]) => ({ gateway: this.gateway, source: this.source, epoch, first, last }))
  }

  /** @param {string} sink */
  #goneFor (sink) {
    let count = 0
    for (const [epoch, { first, lost }] of this.epochs) {
      const stored = this.#storedIn(sink, epoch)
      for (const [from, to] of [...stored.missing(0, first - 1), ...lost.ranges.flatMap(([a, b]) => stored.missing(Math.max(a, first), b))]) {
        count += to - from + 1
      }
    }
    return count
  }

  /** @param {string} epoch */
  #heldOf (epoch) {
    const held = new RangeSet()
    for (const key of this.#held) {
      const [heldEpoch, seq] = key.split('/')
      if (heldEpoch === epoch) held.add(Number(seq))
    }
    return held
  }

  /** @param {string} epoch */
  #isLive (epoch) {
    const known = this.epochs.get(epoch)
    return known !== undefined && known.first <= known.last
  }

  #inOrder () {
    return [...this.epochs].filter(([epoch]) => this.#isLive(epoch)).sort(([a], [b]) => epochCounter(a) - epochCounter(b))
  }

  /** @param {string} name @returns {Epoch} */
  #epoch (name) {
    let epoch = this.epochs.get(name)
    if (!epoch) {
      epoch = { announced: false, first: 0, last: -1, lost: new RangeSet(), seen: -1, parked: new RangeSet() }
      this.epochs.set(name, epoch)
    }
    return epoch
  }

  /** @param {string} sink @param {string} epoch */
  #storedIn (sink, epoch) {
    const epochs = this.#stored.get(sink) ?? new Map()
    this.#stored.set(sink, epochs)
    const stored = epochs.get(epoch) ?? new RangeSet()
    epochs.set(epoch, stored)
    return stored
  }
}

/** @param {[number, number][]} ranges @param {RangeSet[]} others */
function without (ranges, ...others) {
  for (const other of others) ranges = ranges.flatMap(([first, last]) => other.missing(first, last))
  return ranges
}
