import { RangeSet } from '../../gateway/batch/ranges.js'

/**
 * @typedef {import('../control-messages.js').RangesBySource} RangesBySource
 * @typedef {(source: string, epoch: string) => {first: number, last: number}|undefined} Held  what the spool has of an epoch
 * @typedef {{consumer: string, reader: string, wanted: Map<string, {source: string, epoch: string, seqs: RangeSet}>}} Requester
 */

/** Readers that are sent something again at the same time. */
const MAX_REQUESTERS = 100
/** Of one reader. */
const MAX_RANGES = 1000

/** What readers lack and have requested, no more than the spool has; one batch for each of them in turn. */
export class Resends {
  /** The next in turn first. @type {Map<string, Requester>} */
  #requesters = new Map()
  /** Requests, or parts of them, beyond what is bounded. */
  refused = 0

  /**
   * Adds to what is left of the request before.
   * @param {string} consumer
   * @param {string} reader
   * @param {RangesBySource} requested
   * @param {Held} held
   */
  add (consumer, reader, requested, held) {
    const name = JSON.stringify([consumer, reader])
    const requester = this.#requesters.get(name) ?? { consumer, reader, wanted: new Map() }
    for (const [source, epochs] of Object.entries(requested)) {
      for (const [epoch, ranges] of Object.entries(epochs)) {
        const has = held(source, epoch)
        const available = has ? clamped(ranges, has) : []
        if (available.length > 0) this.#request(requester.wanted, source, epoch, available)
      }
    }
    if (requester.wanted.size === 0) return
    if (!this.#requesters.has(name) && this.#requesters.size >= MAX_REQUESTERS) this.refused++
    else this.#requesters.set(name, requester)
  }

  get size () { return this.#requesters.size }

  /** @returns {{consumer: string, reader: string, source: string, epoch: string, seq: number}|undefined} */
  next () {
    for (const [name, requester] of this.#requesters) {
      const [[key, { source, epoch, seqs }]] = requester.wanted
      const [range] = seqs.ranges
      const seq = range[0]++
      if (seq === range[1]) seqs.ranges.shift()
      if (seqs.ranges.length === 0) requester.wanted.delete(key)
      this.#requesters.delete(name)
      if (requester.wanted.size > 0) this.#requesters.set(name, requester) // behind the others
      const { consumer, reader } = requester
      return { consumer, reader, source, epoch, seq }
    }
    return undefined
  }

  /** @param {Requester['wanted']} wanted @param {string} source @param {string} epoch @param {[number, number][]} ranges */
  #request (wanted, source, epoch, ranges) {
    const key = JSON.stringify([source, epoch])
    const { seqs } = wanted.get(key) ?? { seqs: new RangeSet() }
    wanted.set(key, { source, epoch, seqs })
    for (const [first, last] of ranges) {
      const room = MAX_RANGES - Array.from(wanted.values()).reduce((sum, other) => sum + other.seqs.ranges.length, 0)
      if (room > 0) seqs.add(first, last)
      else this.refused++
    }
    if (seqs.ranges.length === 0) wanted.delete(key)
  }
}

/** @param {[number, number][]} ranges @param {{first: number, last: number}} held @returns {[number, number][]} */
function clamped (ranges, held) {
  return ranges
    .map(([first, last]) => /** @type {[number, number]} */ ([Math.max(first, held.first), Math.min(last, held.last)]))
    .filter(([first, last]) => first <= last)
}
