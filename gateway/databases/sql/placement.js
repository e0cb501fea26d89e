import { arrangement } from '../../batch/layouts.js'
import { tableNames } from '../names.js'
import { shapeOf } from '../wide.js'

/**
 * Where the rows of batches go: each source's table, and of each shape of batch the place found in it, which is looked for once.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {(batch: Batch) => Batch} Arrange  returns the rows to store
 */

const MAX_SHAPES = 1000

/** @template Plan  what a database knows of a place: the table, the columns */
export class Placement {
  #arrange
  /** @type {Map<string, Plan>} by shape */
  #plans = new Map()

  /**
   * @param {{table: string, layout: import('../../batch/layouts.js').Layout, intervalMs: number}} options  of the sink
   * @param {import('../names.js').NameRules} rules
   * @param {Arrange} [arrange]  for a layout of the database's own
   */
  constructor (options, rules, arrange = arrangement(options)) {
    this.names = tableNames(options.table, rules)
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
   */
  async of (batches, find) {
    /** @type {Map<Batch, {plan: Plan, arranged: Batch}>} */
    const places = new Map()
    for (const batch of batches) {
      if (batch.rows === 0) continue
      const arranged = this.#arrange(batch)
      if (arranged.rows === 0) continue
      const shape = shapeOf(batch)
      const plan = this.#plans.get(shape) ?? await find(this.names.of(batch.source), arranged)
      if (!this.#plans.has(shape) && this.#plans.size >= MAX_SHAPES) this.#plans.clear()
      this.#plans.set(shape, plan)
      places.set(batch, { plan, arranged })
    }
    return places
  }

  /** Whether a commit record is of this sink's tables. @param {{source: string, table: string}} record */
  owns ({ source, table }) {
    return this.names.inRecords(source) === table
  }

  /** The tables may have been dropped or changed. */
  forget () {
    this.#plans.clear()
  }
}
