import { SluiceError, describe } from '../base/errors.js'

export { MAX_NAME } from '../../resources/names.js'
export { MAX_FIELDS, MAX_TAGS } from '../batch/batch.js'

/**
 * What one message may become. A few bytes can stand for gigabytes (a dictionary, rows that share no field, empty objects): all codecs
 * measure by these bounds, before they take the memory. They are far above what a message of a flow or a device has.
 */

/** Bytes of a message. */
export const MAX_BYTES = 64 * 1024 * 1024
/** Rows of a message. */
export const MAX_ROWS = 1_000_000
/** Values of a message; in JSON, its objects and arrays count too. */
export const MAX_VALUES = 4_000_000
/** Records of SenML; metrics, properties and elements of Sparkplug B: each takes up to a kilobyte while it is read. */
export const MAX_RECORDS = 250_000
/** Rows × fields of all its batches, missing values included. */
export const MAX_CELLS = 2 ** 24
/** Cells that any message may have; more only where `MIN_DENSITY` of them have a value. */
const FREE_CELLS = 1_000_000
const MIN_DENSITY = 1 / 8
/** Bytes of text and of bytes that a dictionary stands for: more would not fit into a staged batch. */
export const MAX_DICTIONARY_BYTES = 2 ** 24
/** Batches of a message: combinations of source and tags. */
export const MAX_SERIES = 10_000
/** Columns of an Arrow stream and of a CSV file. */
export const MAX_COLUMNS = 4096
/** Characters of a tag's value. */
export const MAX_TAG = 1024
/** Objects and arrays within one another, in JSON. */
export const MAX_NESTING = 100
/** Values of a message that are refused one by one; the message is kept once for the rest. */
export const MAX_REFUSED = 1000
/** Rows of a message that are refused before the rest of it is not read any more. */
export const MAX_BAD_ROWS = 10_000

const SPLIT = 'Send it as several messages.'

/** @param {string} what @param {string} [fix] */
export function tooLarge (what, fix = SPLIT) {
  return new SluiceError('SLUICE_MESSAGE_TOO_LARGE', `The message is too large: ${what}.`, { fix })
}

const TOO_MANY_VALUES = describe(tooLarge(`it has over ${MAX_VALUES} values`))
const TOO_SPARSE = describe(tooLarge(
  `its rows × fields are over ${FREE_CELLS} cells, of which fewer than 1 in ${1 / MIN_DENSITY} has a value, or over ${MAX_CELLS}`,
  'Put values of one time into one row, or send each group of fields as a message of its own.'
))

/** Counts what the batches of one message take, before they take it. */
export class CellBudget {
  #values = 0
  #cells = 0

  /**
   * @param {number} values  that are there
   * @param {number} cells  that they add
   * @returns {string|null} why there is no room for them
   */
  take (values, cells) {
    const most = Math.min(Math.max(FREE_CELLS, (this.#values + values) / MIN_DENSITY), MAX_CELLS)
    if (this.#values + values > MAX_VALUES) return TOO_MANY_VALUES
    if (this.#cells + cells > most) return TOO_SPARSE
    this.#values += values
    this.#cells += cells
    return null
  }
}
