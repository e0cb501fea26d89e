import { Batch, COLUMN_TYPES } from '../batch/batch.js'
import { derive, fractionAt } from '../base/random.js'
import { Steps } from './steps.js'

/**
 * @typedef {import('./presets/preset.js').Generator} Generator
 *
 * @typedef {import('../batch/batch.js').Field & {fill: (column: any, first: number) => void}} RecordColumn  `fill` fills an array with the
 *   values of records from index `first` on
 */

/**
 * Endless records of the kind that databases are measured with. The records of a step, one for each of N sensors, have the step's time; in
 * irregular steps, each has a random time between it and the next step's.
 * @implements {Generator}
 */
export class Records {
  rows = 1
  #next = 0
  #source
  #fields
  #fills
  #perStep
  #steps
  #irregular
  #seed

  /**
   * @param {object} options
   * @param {string} options.source
   * @param {RecordColumn[]} options.columns
   * @param {number} options.perStep  records
   * @param {number} options.stepSeconds
   * @param {bigint} options.startNs
   * @param {number} options.seed
   * @param {boolean} [options.irregular]
   * @param {number} options.maxAtOnce
   */
  constructor ({ source, columns, perStep, stepSeconds, startNs, seed, irregular = false, maxAtOnce }) {
    this.#source = source
    this.#fields = columns.map(({ name, type, unit }) => ({ name, type, ...(unit && { unit }) }))
    this.#fills = columns.map(({ fill }) => fill)
    this.#perStep = perStep
    this.#steps = new Steps({ startNs, periodSeconds: stepSeconds })
    this.#irregular = irregular
    this.#seed = derive(seed, -1)
    this.maxAtOnce = maxAtOnce
  }

  /** Those of an irregular step are due when it is over. @param {bigint} ns */
  dueAt (ns) {
    const steps = this.#steps.until(ns) - (this.#irregular ? 1 : 0)
    return Math.max(0, steps * this.#perStep - this.#next)
  }

  /** @param {number} count */
  take (count) {
    const first = this.#next
    this.#next += count
    const columns = this.#fields.map(({ type }, f) => {
      const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(count)
      this.#fills[f](column, first)
      return column
    })
    return [new Batch({ source: this.#source, time: this.#times(first, count), fields: this.#fields, columns })]
  }

  /** @param {number} count */
  skip (count) {
    this.#next += count
  }

  /** @param {number} first @param {number} count */
  #times (first, count) {
    if (this.#perStep === 1 && !this.#irregular) return this.#steps.times(first, count)
    const times = new BigInt64Array(count)
    const periodNs = Number(this.#steps.periodNs)
    for (let row = 0; row < count;) {
      const step = Math.floor((first + row) / this.#perStep)
      const end = Math.min(count, (step + 1) * this.#perStep - first)
      const ns = this.#steps.at(step)
      if (!this.#irregular) times.fill(ns, row, end)
      else for (let r = row; r < end; r++) times[r] = ns + BigInt(Math.floor(fractionAt(this.#seed, first + r) * periodNs))
      row = end
    }
    return times
  }
}
