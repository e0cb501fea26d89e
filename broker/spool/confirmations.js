import { RangeSet } from '../../gateway/batch/ranges.js'
import { addHashes, subtractHashes } from '../../gateway/batch/hashes.js'

/**
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {[first: number, last: number, hash: number]} Sum  of hashes of these seqs, as a sink reports it
 * @typedef {{sums: Sum[], stored: RangeSet, doubt: RangeSet}} Known  of one sink and stream; `sums` are those that matched, or lie below
 *   what is held
 * @typedef {{store: string, forgottenMs?: number, streams: WeakMap<Stream, Known>}} Reading
 * @typedef {{source: string, epoch: string, first: number, last: number}} Range
 */

/** Undoing a deploy that deleted a sink costs nothing for so long. */
const KEPT_MS = 7 * 24 * 3600 * 1000

/**
 * What each sink's database has, as far as the sums of the hashes prove it: the last reading of each. An old one only means that something
 * is kept, or sent, once more.
 */
export class Confirmations {
  /** @type {Map<string, Reading>} by the key of the sink */
  #sinks = new Map()

  /**
   * A reading replaces what was known: a database that was set back needs again what it has lost.
   * @param {string} key
   * @param {string} store
   * @param {Iterable<[Stream, Sum[]]>} reported
   * @returns {{doubts: Range[], clashes: {stream: Stream, seq: number}[]}}
   */
  set (key, store, reported) {
    const before = this.#sinks.get(key)
    const streams = new WeakMap()
    const doubts = []
    const clashes = []
    for (const [stream, sums] of reported) {
      const { clashing, ...known } = verify(stream, sums, before?.store === store ? before.streams.get(stream)?.sums : undefined)
      streams.set(stream, known)
      const { source: { name: source }, epoch } = stream
      for (const [first, last] of known.doubt.ranges) doubts.push({ source, epoch, first, last })
      for (const seq of clashing) clashes.push({ stream, seq })
    }
    this.#sinks.set(key, { store, streams })
    return { doubts, clashes }
  }

  /** @param {string} key */
  forget (key) {
    const sink = this.#sinks.get(key)
    if (sink) sink.forgottenMs = Date.now()
  }

  /** @param {string} key @param {Stream} stream */
  stored (key, stream) { return this.#sinks.get(key)?.streams.get(stream)?.stored }

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
      .map(([key, { store, forgottenMs, streams: known }]) => [key, store, forgottenMs ?? null, all.flatMap(stream => {
        const sums = known.get(stream)?.sums
        return sums ? [[stream.source.name, stream.epoch, sums]] : []
      })])
  }

  /**
   * @param {SavedSinks} saved
   * @param {(source: string, epoch: string) => Stream|undefined} find
   */
  load (saved, find) {
    for (const [key, store, forgottenMs, streams] of saved) {
      const known = new WeakMap()
      for (const [source, epoch, sums] of streams) {
        const stream = find(source, epoch)
        if (stream) known.set(stream, { sums, stored: setOf(sums), doubt: new RangeSet() })
      }
      this.#sinks.set(key, { store, forgottenMs: forgottenMs ?? undefined, streams: known })
    }
  }
}

/**
 * @typedef {[source: string, epoch: string, sums: Sum[]]} SavedSums
 * @typedef {[key: string, store: string, forgottenMs: number|null, streams: SavedSums[]][]} SavedSinks
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

/** Undefined where the log does not know it. @param {Stream} stream @param {number} seq */
function sumBefore (stream, seq) {
  const sum = seq === 0 ? 0 : stream.mark(seq)?.sum
  return Number.isNaN(sum) ? undefined : sum
}

/** @param {Sum[]} sums */
function setOf (sums) {
  return new RangeSet(sums.map(([first, last]) => /** @type {[number, number]} */ ([first, last])))
}
