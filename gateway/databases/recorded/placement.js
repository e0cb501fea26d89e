import { arrangement } from '../../batch/layouts.js'
import { UPSERT } from '../upsert/layout.js'
import { newestByKey } from '../upsert/rows.js'
import { shapeOf } from '../wide.js'

/**
 * Where the rows of batches go: each source's table, and of each shape of batch the place found in it, which is looked for once.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {(batch: Batch) => Batch} Arrange  returns the rows to store
 * @typedef {{width?: number}} Wide  how many columns the table has, where rows replace others: they replace all of them
 */

const MAX_SHAPES = 1000

/** @template Plan  what a database knows of a place: the table, the columns */
export class Placement {
  #arrange
  /** @type {Map<string, Plan>} by shape */
  #plans = new Map()
  /** by table, see `Wide` @type {Map<string, number>} */
  #widths = new Map()

  /**
   * @param {{layout: any, intervalMs: number, key?: string[]}} options  of the sink
   * @param {import('../names.js').TableNames} names
   * @param {Arrange} [arrange]  for a layout of the database's own
   */
  constructor (options, names, arrange = options.layout === UPSERT ? newestByKey(options.key ?? []) : arrangement(options)) {
    this.names = names
    this.#arrange = arrange
  }

  /** Whether the places of all these are known. @param {Batch[]} batches */
  covers (batches) {
    return batches.every(batch => batch.rows === 0 || this.#plans.has(shapeOf(batch)))
  }

  /**
   * The place of each batch that has rows, which are arranged for it.
   * @param {Batch[]} batches
   * @param {(name: string, arranged: Batch) => Promise<Plan>} find  creates what is missing of a table
   * @returns {Promise<Map<Batch, {plan: Plan, arranged: Batch}>>}
   */
  async of (batches, find) {
    /** @type {Map<Batch, {plan: Plan, arranged: Batch}>} */
    const places = new Map()
    for (const batch of batches) {
      if (batch.rows === 0) continue
      const arranged = this.#arrange(batch)
      if (arranged.rows === 0) continue
      const shape = shapeOf(batch)
      const table = this.names.of(batch.source)
      const plan = this.#plans.get(shape) ?? await find(table, arranged)
      if (this.#hasGrown(table, plan)) return this.of(batches, find)
      if (!this.#plans.has(shape) && this.#plans.size >= MAX_SHAPES) this.#plans.clear()
      this.#plans.set(shape, plan)
      places.set(batch, { plan, arranged })
    }
    return places
  }

  /** The plans so far, of that table and others, may not know of all its columns. @param {string} table @param {Plan} plan */
  #hasGrown (table, plan) {
    const { width } = /** @type {Wide} */ (plan)
    const before = this.#widths.get(table)
    if (width === undefined || width === before) return false
    this.#widths.set(table, width)
    if (before !== undefined) this.#plans.clear()
    return before !== undefined
  }

  /** Whether a commit record is of this sink's tables. @param {{source: string, table: string}} record */
  owns ({ source, table }) {
    return this.names.inRecords(source) === table
  }

  /** The tables may have been dropped or changed. */
  forget () {
    this.#plans.clear()
    this.#widths.clear()
  }
}
