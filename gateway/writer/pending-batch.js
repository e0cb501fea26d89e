import { marker, pickOf, sliceOf } from '../batch/batch.js'

/**
 * A batch on its way into the database, and what of it is still to be stored: the rows that are not dead letters.
 */
export class PendingBatch {
  #rest
  /** @type {number[]|null} which rows of `batch` the rest is; null while it is all of them */
  #rows = null

  /** @param {import('../batch/batch.js').Batch} batch */
  constructor (batch) {
    this.batch = batch
    this.#rest = batch
  }

  /** How many rows are still to be stored. */
  get length () { return this.#rest.rows }

  /** How many rows are dead letters. */
  get dead () { return this.batch.rows - this.length }

  /** Which rows of `batch` are still to be stored. */
  get rows () { return this.#rows ?? range(0, this.length) }

  /** The row of `batch` that is the i-th still to be stored. @param {number} i */
  rowAt (i) { return this.#rows ? this.#rows[i] : i }

  /** The batch to store: its good rows, or when it has none its commit record; null when it has no identity either. */
  get toWrite () {
    const { identity } = this.batch
    if (this.length > 0) return this.#rest
    return identity && marker(identity)
  }

  /**
   * Some of the rows that are still to be stored, counted among themselves.
   * @param {number} from
   * @param {number} to
   * @param {(row: number) => boolean} [isLeftOut]
   */
  select (from, to, isLeftOut = () => false) {
    const chosen = range(from, to).filter(row => !isLeftOut(row))
    return chosen.length === to - from ? sliceOf(this.#rest, from, to) : pickOf(this.#rest, chosen)
  }

  /** @param {(row: number) => boolean} isDead  of a row of `batch` */
  bury (isDead) {
    this.#rows = this.rows.filter(row => !isDead(row))
    this.#rest = pickOf(this.batch, this.#rows)
  }
}

/** @param {number} from @param {number} to */
function range (from, to) {
  return Array.from({ length: to - from }, (_, i) => from + i)
}
