import { CellBudget, MAX_SERIES } from '../../bounds.js'
import { Measurement } from './measurement.js'
import { Sheet, cells } from './sheet.js'

/**
 * @typedef {import('./shape.js').Shape} Shape
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 */

/** Rows that there is room for before the first is read, at most. */
const MAX_EXPECTED_ROWS = 4096

/** The rows of a message, those of each shape together. */
export class Sheets {
  /** By the keys of their shapes. @type {Map<string, Sheet>} */
  #byKey = new Map()
  /** @type {Map<string, Measurement>} */
  #measurements = new Map()
  /** How many have rows. */
  #entered = 0
  #budget = new CellBudget()
  #tagBudget = new CellBudget()

  /** The same shape as it is in use, if it is. @param {Shape} shape */
  same (shape) {
    return this.#byKey.get(shape.key)?.shape ?? shape
  }

  /** Where the next row of a shape goes. @param {Shape} shape @param {number} bytes  of the message, from this row on */
  of (shape, bytes) {
    if (shape.sheet) {
      shape.sheet.makeRoom()
      return shape.sheet
    }
    const expected = this.#entered === 0 ? Math.ceil(bytes / shape.rowBytes) : 1
    shape.sheet = new Sheet(shape, Math.min(expected, MAX_EXPECTED_ROWS))
    this.#byKey.set(shape.key, shape.sheet)
    return shape.sheet
  }

  /** @param {Sheet} sheet  whose next row has been read @param {number} index  of it in the message @returns {string|null} why not */
  accept (sheet, index) {
    const { shape } = sheet
    const measurement = sheet.measurement ?? this.#enter(sheet)
    if (measurement === null) return `the message has more than ${MAX_SERIES} combinations of source, tags and fields`
    const conflict = measurement.conflictOf(sheet)
    if (conflict) return conflict
    const noRoom = this.#budget.take(shape.fields.length, shape.fields.length) ?? this.#tagBudget.take(shape.tags.length, shape.tags.length)
    if (noRoom) return noRoom
    measurement.accept(sheet)
    sheet.add(index)
    return null
  }

  batches () {
    /** @type {Batch[]} */
    const batches = []
    for (const measurement of this.#measurements.values()) batches.push(...measurement.batches())
    return batches
  }

  /** The next message can be read. */
  release () {
    for (const { shape } of this.#byKey.values()) shape.sheet = null
    cells.release()
  }

  /** @param {Sheet} sheet  that has its first row @returns {Measurement|null} null where there are too many */
  #enter (sheet) {
    if (this.#entered === MAX_SERIES) return null
    this.#entered++
    const { source } = sheet.shape
    let measurement = this.#measurements.get(source)
    if (!measurement) this.#measurements.set(source, measurement = new Measurement())
    measurement.add(sheet)
    sheet.measurement = measurement
    return measurement
  }
}
