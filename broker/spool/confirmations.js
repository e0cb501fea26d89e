import { RangeSet } from '../../gateway/batch/ranges.js'
import { addHashes, subtractHashes } from '../../gateway/batch/hashes.js'

/**
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {[first: number, last: number, hash: number]} Sum  of hashes of these seqs, as a sink reports it
 * @typedef {import('../control-messages.js').ReadingNumber} ReadingNumber
 * @typedef {import('../local.js').Outcome} Outcome
 * @typedef {object} Report  of a sink
 * @property {string} store
 * @property {ReadingNumber} [reading]
 * @property {Record<string, Record<string, Sum[]>>} epochs
 * @property {import('../local.js').Outcomes} [outcomes]  of one of this process
 *
 * @typedef {object} Known  of one sink and stream
 * @property {Sum[]} sums  those that matched, or lie below what is held
 * @property {RangeSet} stored
 * @property {RangeSet} doubt
 * @property {number} [doubted]  so many answers in a row have left something in doubt
 * @property {boolean} [isSaved]  an earlier run was told so, and this one has not been
 * @property {Map<number, {count: number, stored: RangeSet}>} [readings]  the newest of each process that has reported one
 *
 * @typedef {{store: string, forgottenMs?: number, streams: WeakMap<Stream, Known>, outcomes: Map<string, Outcome>}} Reading  `outcomes`: by
 *   source
 * @typedef {{source: string, epoch: string, first: number, last: number}} Range
 *
 * @typedef {object} Verified  what a reading has been found to say
 * @property {Range[]} doubts
 * @property {Range[]} lasting  what has now been in doubt for several answers
 * @property {{stream: Stream, seq: number}[]} clashes
 * @property {boolean} isOther  it is of another database than the one before
 * @property {boolean} isMore  it has something of what is held that was not known to be there
 * @property {boolean} isLess  it lacks something of what is held that was there before, as the same process has said: of two members of a
 *   group, each of which reads for itself, the one may say late what it has read before the other
 */

/** Of what a database has nothing of. @type {Outcome} */
const NOTHING = [null, 0, 0]
/** Undoing a deploy that deleted a sink costs nothing for so long. */
const KEPT_MS = 7 * 24 * 3600 * 1000
/** So many answers to a doubt should have settled it: the first may have been under way already. */
const MAX_DOUBTED = 5
/** Processes that report of one sink: the members of a group, also those that they were before they started again. */
const MAX_PROCESSES = 100

/**
 * What each sink's database has, as far as the sums of the hashes prove it: of each epoch what the last reading that names it says. What an
 * earlier run was told may no longer be so: it decides what is sent first, and releases nothing.
 */
export class Confirmations {
  /** @type {Map<string, Reading>} by the key of the sink */
  #sinks = new Map()

  /**
   * A reading replaces what was known of the epochs that it names: a database that was set back needs again what it has lost. Of others
   * it says nothing (they have other readers, or did not fit into a message), unless it is of another database. One that is older than
   * what the same process has said is late, and says nothing either.
   * @param {string} key
   * @param {string} store
   * @param {Iterable<[Stream, Sum[]]>} reported
   * @param {ReadingNumber} [reading]
   * @returns {Verified}
   */
  set (key, store, reported, reading) {
    const before = this.#sinks.get(key)
    const isOther = before !== undefined && before.store !== store
    const streams = (!isOther && before?.streams) || new WeakMap()
    /** @type {Verified} */
    const verified = { doubts: [], lasting: [], clashes: [], isOther, isMore: false, isLess: false }
    for (const [stream, sums] of reported) {
      const known = streams.get(stream)
      const readings = known?.readings ?? new Map()
      const [process, count] = reading ?? [0, 0]
      const own = readings.get(process)
      if (own && count < own.count) continue
      const { clashing, ...now } = verify(stream, sums, known?.sums)
      const doubted = now.doubt.ranges.length > 0 ? (known?.doubted ?? 0) + 1 : 0
      note(readings, process, { count, stored: now.stored })
      streams.set(stream, { ...now, readings, doubted })
      verified.isMore ||= lacks(stream, known?.stored ?? new RangeSet(), now.stored)
      verified.isLess ||= lacks(stream, setOf(sums), own?.stored ?? known?.stored)
      const { source: { name: source }, epoch } = stream
      const doubts = now.doubt.ranges.map(([first, last]) => ({ source, epoch, first, last }))
      verified.doubts.push(...doubts)
      if (doubted === MAX_DOUBTED) verified.lasting.push(...doubts)
      for (const seq of clashing) verified.clashes.push({ stream, seq })
    }
    this.#sinks.set(key, { store, streams, outcomes: (!isOther && before?.outcomes) || new Map() })
    return verified
  }

  /** What its database says of a source, besides. @param {string} key @param {string} source @param {Outcome} [outcome] */
  became (key, source, outcome = NOTHING) { this.#sinks.get(key)?.outcomes.set(source, outcome) }

  /** As it has said; of one that has said only what it has, all else is stored. @param {string} key @param {string} source */
  outcome (key, source) {
    const sink = this.#sinks.get(key)
    return sink ? sink.outcomes.get(source) ?? [0, 0, 0] : NOTHING
  }

  /** @param {string} key */
  forget (key) {
    const sink = this.#sinks.get(key)
    if (sink) sink.forgottenMs = Date.now()
  }

  /** As far as known. @param {string} key @param {Stream} stream */
  stored (key, stream) { return this.#sinks.get(key)?.streams.get(stream)?.stored }

  /** As this run was told. @param {string} key @param {Stream} stream */
  confirmed (key, stream) {
    const known = this.#sinks.get(key)?.streams.get(stream)
    return known?.isSaved ? undefined : known?.stored
  }

  /**
   * For what of a stream some of these sinks is to report each record alone.
   * @param {Stream} stream
   * @param {Iterable<{key: string}>} required
   */
  doubt (stream, required) {
    const doubt = new RangeSet()
    for (const { key } of required) {
      for (const [first, last] of this.#sinks.get(key)?.streams.get(stream)?.doubt.ranges ?? []) doubt.add(first, last)
    }
    return doubt
  }

  /**
   * For the file: sinks that were forgotten long ago and are not required again are left out.
   * @param {Iterable<Stream>} streams
   * @param {Set<string>} required  keys
   * @returns {SavedSinks}
   */
  save (streams, required) {
    const all = [...streams]
    return [...this.#sinks]
      .filter(([key, { forgottenMs = Infinity }]) => required.has(key) || Date.now() - forgottenMs < KEPT_MS)
      .map(([key, { store, forgottenMs, streams: known, outcomes }]) => [key, store, forgottenMs ?? null, all.flatMap(stream => {
        const sums = known.get(stream)?.sums
        return sums ? [[stream.source.name, stream.epoch, sums]] : []
      }), [...outcomes]])
  }

  /**
   * @param {SavedSinks} saved
   * @param {(source: string, epoch: string) => Stream|undefined} find
   */
  load (saved, find) {
    for (const [key, store, forgottenMs, streams, outcomes] of saved) {
      const known = new WeakMap()
      for (const [source, epoch, sums] of streams) {
        const stream = find(source, epoch)
        if (stream) known.set(stream, { sums, stored: setOf(sums), doubt: new RangeSet(), isSaved: true })
      }
      this.#sinks.set(key, { store, forgottenMs: forgottenMs ?? undefined, streams: known, outcomes: new Map(outcomes) })
    }
  }
}

/**
 * @typedef {[source: string, epoch: string, sums: Sum[]]} SavedSums
 * @typedef {[key: string, store: string, forgottenMs: number|null, streams: SavedSums[], outcomes?: [string, Outcome][]][]} SavedSinks
 *   without `outcomes`: of an earlier release
 */

/**
 * Which of the sums are those of what was staged. Of what is not held any more, or was lost, nothing can be verified, nor need it be.
 * @param {Stream} stream
 * @param {Sum[]} reported
 * @param {Sum[]} [before]  what the same store had reported
 * @returns {Known & {clashing: number[]}}
 */
function verify (stream, reported, before = []) {
  const held = stream.start.seq
  /** @type {Sum[]} */
  const sums = []
  const doubt = new RangeSet()
  const clashing = []
  const known = new Map(before.map(sum => [sum[0], sum]))
  for (const sum of reported) {
    const [first, last] = sum
    const isHeld = first < last ? last >= held : stream.has(first)
    if (!isHeld || isProved(stream, sum, known)) sums.push(sum)
    else if (first === last) clashing.push(first)
    else doubt.add(Math.max(first, held), Math.min(last, stream.end.seq - 1))
  }
  return { sums, stored: setOf(sums), doubt, clashing }
}

/**
 * One that begins below what the log knows is proved by how it has grown: the sum of what was added to what had been accepted must be that
 * of the hashes added.
 * @param {Stream} stream @param {Sum} sum @param {Map<number, Sum>} known  by their first seq
 */
function isProved (stream, [first, last, hash], known) {
  const end = sumBefore(stream, last + 1)
  for (let seq = first, sum = 0; ;) {
    const start = sumBefore(stream, seq)
    if (start !== undefined && end !== undefined) return hash === addHashes(sum, subtractHashes(end, start))
    if (seq > last) return hash === sum
    const part = known.get(seq)
    if (!part || part[1] > last) return false
    seq = part[1] + 1
    sum = addHashes(sum, part[2])
  }
}

/** @param {NonNullable<Known['readings']>} readings @param {number} process @param {{count: number, stored: RangeSet}} its */
function note (readings, process, its) {
  readings.delete(process)
  readings.set(process, its)
  for (const oldest of [...readings.keys()].slice(0, -MAX_PROCESSES)) readings.delete(oldest)
}

/**
 * Whether something that is held was there and is not any more.
 * @param {Stream} stream @param {RangeSet} now @param {RangeSet} [before]
 */
function lacks ({ start, end }, now, before = new RangeSet()) {
  return before.ranges.some(([first, last]) => now.missing(Math.max(first, start.seq), Math.min(last, end.seq - 1)).length > 0)
}

/** Undefined where the log does not know it. @param {Stream} stream @param {number} seq */
function sumBefore (stream, seq) {
  const sum = seq === 0 ? 0 : stream.mark(seq)?.sum
  return Number.isNaN(sum) ? undefined : sum
}

/** @param {Sum[]} sums */
function setOf (sums) {
  return new RangeSet(sums.map(([first, last]) => /** @type {[number, number]} */ ([first, last])))
}
