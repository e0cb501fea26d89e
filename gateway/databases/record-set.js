import { RangeSet } from '../batch/ranges.js'
import { committedRanges } from './commit-records.js'

/**
 * Commit records held in memory, as ranges from the start.
 *
 * @typedef {import('../batch/batch.js').Identity} Identity
 * @typedef {{table: string, gateway: string, source: string, epoch: string, ranges: [number, number][]}} Stored
 */
export class RecordSet {
  /** @type {Map<string, {table: string, gateway: string, source: string, epoch: string, set: RangeSet}>} */
  #epochs = new Map()

  /** @param {string} table @param {Identity} identity */
  has (table, identity) {
    return this.#epochs.get(keyOf(table, identity))?.set.has(identity.seq) ?? false
  }

  /** @param {string} table @param {Identity} identity */
  addBatch (table, { gateway, source, epoch, seq }) {
    this.add({ table, gateway, source, epoch, ranges: [[seq, seq]] })
  }

  /** @param {Stored} stored */
  add ({ table, gateway, source, epoch, ranges }) {
    const key = keyOf(table, { gateway, source, epoch })
    let found = this.#epochs.get(key)
    if (!found) this.#epochs.set(key, found = { table, gateway, source, epoch, set: new RangeSet() })
    for (const [first, last] of ranges) found.set.add(first, last)
  }

  /** @returns {Stored[]} */
  get stored () {
    return [...this.#epochs.values()].map(({ set, ...epoch }) => ({ ...epoch, ranges: set.ranges }))
  }

  /** @param {(table: string, source: string) => boolean} isOwn */
  committed (isOwn) {
    return committedRanges(this.stored.filter(({ table, source }) => isOwn(table, source))
      .flatMap(({ ranges, ...epoch }) => ranges.map(([seq, last]) => ({ ...epoch, seq, last }))))
  }
}

/** @param {string} table @param {{gateway: string, source: string, epoch: string}} identity */
function keyOf (table, { gateway, source, epoch }) {
  return JSON.stringify([table, gateway, source, epoch])
}
