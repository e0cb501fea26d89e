import { RangeSet } from '../../gateway/batch/ranges.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { epochCounter } from '../spool/segment.js'

/**
 * @typedef {{spool: string, epochs: {epoch: string, first: number, last: number, lost?: [number, number][]}[]}} Head  `spool` names its
 *   publisher: two of one gateway may stage one source
 *
 * @typedef {object} Epoch  what is known of one epoch of a source
 * @property {string|null} spool  whose head named it; once that no longer does, the spool has released all of it. Null: known by its data
 *   only
 * @property {number} first  the spool has nothing below it any more
 * @property {number} last  the newest that the spool is known to have; -1: none
 * @property {RangeSet} lost  damaged in the spool
 * @property {number} seen  the newest that came on `data`; -1: none
 * @property {RangeSet} parked
 */

/** A spool whose head has not come for so long, while another's has, is gone. */
const SILENT_MS = 60_000

/**
 * What a consumer knows of one source: what its spool has, what came, what each sink's database has stored; and so what is missing.
 */
export class Stream {
  /** @type {Map<string, Epoch>} */
  epochs = new Map()
  /** @type {Map<string, number>} spool → when its head came */
  #heardMs = new Map()
  /** @type {Map<string, Map<string, RangeSet>>} sink → epoch → stored */
  #stored = new Map()
  /** @type {Set<string>} `epoch/seq` of what is held in this process */
  #held = new Set()

  /** @param {string} gateway @param {string} source @param {() => number} [nowMs]  monotonic */
  constructor (gateway, source, nowMs = () => performance.now()) {
    this.gateway = gateway
    this.source = source
    this.nowMs = nowMs
    this.lastDataMs = nowMs()
  }

  get headKnown () { return this.#heardMs.size > 0 }

  /** The spool has published what it has. @param {Head} head @returns {boolean} whether it names an epoch that no head had named */
  setHead ({ spool, epochs }) {
    const now = this.nowMs()
    this.#heardMs.set(spool, now)
    const named = new Set(epochs.map(({ epoch }) => epoch))
    for (const [name, epoch] of this.epochs) {
      const isGone = epoch.spool === spool
        ? !named.has(name)
        : epoch.spool !== null && now - (this.#heardMs.get(epoch.spool) ?? 0) > SILENT_MS
      if (isGone) epoch.first = epoch.last + 1
    }
    let isNew = false
    for (const { epoch, first, last, lost } of epochs) {
      const known = this.#epoch(epoch)
      isNew ||= known.spool === null
      Object.assign(known, { spool, first, last: Math.max(last, known.last), lost: new RangeSet(lost) })
    }
    return isNew
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
  release (epoch, seq) { this.#held.delete(`${epoch}/${seq}`) }

  /** @param {string} epoch @param {number} seq */
  park (epoch, seq) { this.#epoch(epoch).parked.add(seq) }

  /** @param {string} epoch @param {number} seq */
  isParked (epoch, seq) { return this.epochs.get(epoch)?.parked.has(seq) ?? false }

  /**
   * What a sink reports as stored.
   * @param {string} sink
   * @param {import('../../gateway/databases/sink.js').Committed[]} committed
   */
  setStored (sink, committed) {
    this.#stored.set(sink, new Map(committed.map(({ epoch, ranges }) => [epoch, new RangeSet(ranges)])))
  }

  /** @param {string} sink @param {string} epoch @param {number} seq */
  addStored (sink, epoch, seq) {
    const epochs = this.#stored.get(sink) ?? new Map()
    const stored = epochs.get(epoch) ?? new RangeSet()
    stored.add(seq)
    this.#stored.set(sink, epochs.set(epoch, stored))
  }

  /** @param {string} sink @param {string} epoch @param {number} seq */
  isStored (sink, epoch, seq) {
    return this.#storedIn(sink, epoch).has(seq)
  }

  /** What the sink has stored of the epochs the spool still has: for `commit`. @param {string} sink */
  storedRanges (sink) {
    const stored = this.#stored.get(sink) ?? new Map()
    return Object.fromEntries([...stored].filter(([epoch]) => !this.headKnown || this.#isLive(epoch)))
  }

  /**
   * Ranges that some of the sinks lacks and the spool has, oldest first. What is below a batch that came was sent and did not arrive;
   * what is above the newest may be on its way, unless the source has gone quiet.
   * @param {string[]} sinks
   * @param {{limit: number, quiet: boolean}} options  limit: at most so many batches
   * @returns {{epoch: string, first: number, last: number}[]}
   */
  missing (sinks, { limit, quiet }) {
    const live = this.#inOrder()
    const newestSeen = new Map(live.filter(([, { seen }]) => seen >= 0).map(([name, { spool }]) => [spool, epochCounter(name)]))
    const found = []
    for (const [epoch, { spool, first, last, lost, seen, parked }] of live) {
      const sentUpTo = quiet || epochCounter(epoch) < (newestSeen.get(spool) ?? -1) ? last : seen - 1
      const missing = new RangeSet(sinks.flatMap(sink => this.#storedIn(sink, epoch).missing(first, sentUpTo)))
      for (const [from, to] of without(missing.ranges, lost, parked, this.#heldOf(epoch))) {
        if (limit <= 0) return found
        const end = Math.min(to, from + limit - 1)
        found.push({ epoch, first: from, last: end })
        limit -= end - from + 1
      }
    }
    return found
  }

  /**
   * How many batches the sink can never get: damaged, or evicted by the spool before the sink had them. What was gone before the first
   * batch that the sink has stored is its shortfall, not a loss: it was new then, and a new or emptied table starts at what the spool
   * still has.
   * @param {string} sink
   */
  lost (sink) {
    const counts = { lost: 0, shortfall: 0 }
    const stored = this.#stored.get(sink)
    if (!stored) return counts // it has not reported yet
    const begin = beginningOf(stored)
    for (const [epoch, known] of this.epochs) {
      for (const [from, to] of this.#goneFrom(epoch, known, sink)) {
        const isShortfall = epochCounter(epoch) < begin.counter || (epoch === begin.epoch && to < begin.seq)
        counts[isShortfall ? 'shortfall' : 'lost'] += to - from + 1
      }
    }
    return counts
  }

  /** What the spool has, for compaction. */
  heads () {
    return [...this.epochs].map(([epoch, { first, last }]) => ({ gateway: this.gateway, source: this.source, epoch, first, last }))
  }

  /** @param {string} epoch @param {Epoch} known @param {string} sink */
  #goneFrom (epoch, { first, lost }, sink) {
    const stored = this.#storedIn(sink, epoch)
    return [...stored.missing(0, first - 1), ...lost.ranges.flatMap(([from, to]) => stored.missing(Math.max(from, first), to))]
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
      epoch = { spool: null, first: 0, last: -1, lost: new RangeSet(), seen: -1, parked: new RangeSet() }
      this.epochs.set(name, epoch)
    }
    return epoch
  }

  /** @param {string} sink @param {string} epoch */
  #storedIn (sink, epoch) {
    return this.#stored.get(sink)?.get(epoch) ?? new RangeSet()
  }
}

/** The first batch of a source that a sink has stored. @param {Map<string, RangeSet>} stored  by epoch */
function beginningOf (stored) {
  let begin = { epoch: '', counter: Infinity, seq: 0 }
  for (const [epoch, { ranges: [first] }] of stored) {
    if (first && epochCounter(epoch) < begin.counter) begin = { epoch, counter: epochCounter(epoch), seq: first[0] }
  }
  return begin
}

/**
 * Reads a `head` message: anybody may have published it, and it is retained.
 * @param {Uint8Array} payload
 * @returns {Head}
 */
export function readHead (payload) {
  const { spool = '', epochs } = JSON.parse(Buffer.from(payload).toString())
  if (typeof spool !== 'string' || !Array.isArray(epochs) || !epochs.every(isEpoch)) {
    throw new SluiceError('SLUICE_PROTOCOL', 'It is not a list of epochs with first and last.')
  }
  return { spool, epochs }
}

/** @param {any} value */
function isEpoch ({ epoch, first, last, lost = [] }) {
  return typeof epoch === 'string' && epochCounter(epoch) >= 0 && isRange(first, last) &&
    Array.isArray(lost) && lost.every(range => isRange(range[0], range[1]))
}

/** @param {any} first @param {any} last */
function isRange (first, last) {
  return Number.isSafeInteger(first) && Number.isSafeInteger(last) && first >= 0 && last >= first
}

/** @param {[number, number][]} ranges @param {RangeSet[]} others */
function without (ranges, ...others) {
  for (const other of others) ranges = ranges.flatMap(([first, last]) => other.missing(first, last))
  return ranges
}
