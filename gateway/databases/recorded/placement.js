import { arrangement } from '../../batch/layouts.js'
import { UPSERT } from '../upsert/layout.js'
import { newestByKey } from '../upsert/rows.js'
import { shapeOf } from '../wide.js'

/**
 * Where the rows of batches go: each source's table, and of each shape of batch the place found in it, which is looked for once.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Progress} Progress
 * @typedef {(batch: Batch) => Batch} Arrange  returns the rows to store
 * @typedef {{width?: number}} Wide  how many columns the table has, where rows replace others: they replace all of them
 */

/**
 * @template Plan
 * @typedef {(name: string, arranged: Batch) => Promise<Plan>} Find  creates what is missing of a table
 */

/** As many as a gateway may have sources. */
const MAX_SHAPES = 10_000

/** @template Plan  what a database knows of a place: the table, the columns */
export class Placement {
  #arrange
  #atOnce
  /** @type {Map<string, Plan>} by shape */
  #plans = new Map()
  /** by table, see `Wide` @type {Map<string, number>} */
  #widths = new Map()
  /** Tables that are looked for just now. @type {Map<string, Promise<void>>} */
  #finding = new Map()
  /** Tables that are yet to be found, and how many have been since there were none. @type {Set<string>} */
  #lacking = new Set()
  #found = 0
  #lastMs = 0

  /**
   * @param {{layout: any, intervalMs: number, key?: string[]}} options  of the sink
   * @param {import('../names.js').TableNames} names
   * @param {{arrange?: Arrange, tablesAtOnce?: number}} [how]  `arrange`: for a layout of the database's own; `tablesAtOnce`: so many
   *   are looked for, and created
   */
  constructor (options, names, { arrange, tablesAtOnce = 1 } = {}) {
    this.names = names
    this.#arrange = arrange ?? (options.layout === UPSERT ? newestByKey(options.key ?? []) : arrangement(options))
    this.#atOnce = tablesAtOnce
  }

  /** Whether the places of all these are known. @param {Batch[]} batches */
  covers (batches) {
    return batches.every(batch => batch.rows === 0 || this.#plans.has(this.#placeOf(batch).shape))
  }

  /** How far it is with the tables that are looked for; null where there are none, or all are known. @returns {Progress|null} */
  get progress () {
    return this.#lacking.size === 0 ? null : { done: this.#found, of: this.#found + this.#lacking.size, lastMs: this.#lastMs }
  }

  /**
   * Finds the places of batches, of at least one table, and of others while there is time.
   * @param {Batch[]} batches
   * @param {Find<Plan>} find
   * @param {number} [forMs]
   * @returns {Promise<Batch[]>} those whose places are yet to be found
   */
  async prepare (batches, find, forMs) {
    const { plans, empty } = await this.#plansOf(batches, find, forMs)
    return batches.filter(batch => batch.rows > 0 && !empty.has(batch) && !plans.has(this.#placeOf(batch).shape))
  }

  /**
   * The place of each batch that has rows, which are arranged for it.
   * @param {Batch[]} batches
   * @param {Find<Plan>} find
   * @returns {Promise<Map<Batch, {plan: Plan, arranged: Batch}>>}
   */
  async of (batches, find) {
    const { plans } = await this.#plansOf(batches, find)
    /** @type {Map<Batch, {plan: Plan, arranged: Batch}>} */
    const places = new Map()
    for (const batch of batches) {
      const arranged = batch.rows > 0 ? this.#arrange(batch) : batch
      const plan = arranged.rows > 0 && plans.get(this.#placeOf(batch).shape)
      if (plan) places.set(batch, { plan, arranged })
    }
    return places
  }

  /** Rows of an INSERT are of a source that is the table itself, and may have another place in it. @param {Batch} batch */
  #placeOf ({ source, tags, fields }) {
    const table = this.names.of(source)
    return { table, shape: `${source === table} ${shapeOf({ source: table, tags, fields })}` }
  }

  /**
   * By shape; all, unless time is up before. Of batches, those that are empty once they are arranged.
   * @param {Batch[]} batches
   * @param {Find<Plan>} find
   * @param {number} [forMs]
   * @returns {Promise<{plans: Map<string, Plan>, empty: Set<Batch>}>}
   */
  async #plansOf (batches, find, forMs = Infinity) {
    const untilMs = performance.now() + forMs
    /** @type {Map<string, Plan>} */
    const plans = new Map()
    /** @type {Set<Batch>} */
    const empty = new Set()
    /** By table and shape: rows of that shape. @type {Map<string, Map<string, Batch>>} */
    const lacking = new Map()
    for (const batch of batches) {
      if (batch.rows === 0) continue
      const { table, shape } = this.#placeOf(batch)
      const plan = this.#plans.get(shape)
      if (plan !== undefined) plans.set(shape, plan)
      if (plan !== undefined || lacking.get(table)?.has(shape)) continue
      const arranged = this.#arrange(batch)
      if (arranged.rows === 0) empty.add(batch)
      else lacking.set(table, (lacking.get(table) ?? new Map()).set(shape, arranged))
    }
    this.#expect(lacking.keys())
    const waiting = lacking.entries()
    let [hasGrown, isOver] = [false, false]
    const results = await Promise.allSettled(Array.from({ length: Math.min(this.#atOnce, lacking.size) }, async () => {
      for (const [table, shapes] of waiting) {
        try {
          hasGrown = await this.#find(table, shapes, find, plans) || hasGrown
        } catch (error) {
          isOver = true
          throw error
        }
        if (isOver || performance.now() > untilMs) return
      }
    }))
    const failed = results.find(({ status }) => status === 'rejected')
    if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
    return hasGrown ? this.#plansOf(batches, find, untilMs - performance.now()) : { plans, empty }
  }

  /**
   * Finds the places of a table, unless another write is just finding them.
   * @param {string} table
   * @param {Map<string, Batch>} shapes
   * @param {Find<Plan>} find
   * @param {Map<string, Plan>} plans  to which it adds them
   * @returns {Promise<boolean>} whether plans have been forgotten, as the table has grown
   */
  async #find (table, shapes, find, plans) {
    while (this.#finding.has(table)) await this.#finding.get(table)
    /** @type {PromiseWithResolvers<void>} */
    const { promise, resolve } = Promise.withResolvers()
    this.#finding.set(table, promise)
    let hasGrown = false
    try {
      for (const [shape, arranged] of shapes) {
        const plan = this.#plans.get(shape) ?? await find(table, arranged)
        if (this.#hasGrown(table, plan)) hasGrown = true
        const [oldest] = this.#plans.keys()
        if (this.#plans.size >= MAX_SHAPES) this.#plans.delete(oldest)
        this.#plans.set(shape, plan)
        plans.set(shape, plan)
      }
      if (this.#lacking.has(table)) this.#found++
      this.#lastMs = performance.now()
    } finally {
      this.#lacking.delete(table)
      this.#finding.delete(table)
      resolve()
    }
    return hasGrown
  }

  /** @param {Iterable<string>} tables */
  #expect (tables) {
    if (this.#lacking.size === 0) {
      this.#found = 0
      this.#lastMs = performance.now()
    }
    for (const table of tables) this.#lacking.add(table)
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
    this.#lacking.clear()
  }
}
