import { CellBudget, MAX_RECORDS, MAX_SERIES } from '../../bounds.js'
import { Measurement } from './measurement.js'
import { Sheet, cells } from './sheet.js'

/**
 * @typedef {import('./shape.js').Shape} Shape
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 */

/** Rows that there is room for before the first is read, at most. */
const MAX_EXPECTED_ROWS = 4096

/** Columns of sheets that have been begun, before their rows are put together: rows of a thousand shapes may go into one batch. */
const MAX_OPEN_COLUMNS = 2 ** 14
/** Those of a sheet besides its values, about. */
const OWN_COLUMNS = 4
/** Sheets of a message that have rows, one after the other: each takes some time. */
const MAX_ENTERED = 5 * MAX_SERIES

/** The rows of a message, those of each shape together. */
export class Sheets {
  /** By the keys of their shapes. @type {Map<string, Sheet>} */
  #byKey = new Map()
  /** @type {Map<string, Measurement>} */
  #measurements = new Map()
  #openColumns = 0
  #entered = 0
  /** What has been put together: batches, and their columns. */
  #closed = { batches: 0, columns: 0 }
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
    if (this.#openColumns > MAX_OPEN_COLUMNS) this.#fold()
    this.#openColumns += OWN_COLUMNS + shape.kinds.length
    const expected = this.#measurements.size === 0 ? Math.ceil(bytes / shape.rowBytes) : 1
    shape.sheet = new Sheet(shape, Math.min(expected, MAX_EXPECTED_ROWS))
    this.#byKey.set(shape.key, shape.sheet)
    return shape.sheet
  }

  /** @param {Sheet} sheet  whose next row has been read @param {number} index  of it in the message @returns {string|null} why not */
  accept (sheet, index) {
    const { shape } = sheet
    const measurement = sheet.measurement ?? this.#enter(sheet)
    if (measurement === null) return 'the message has too many different combinations of fields and tags'
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
    if (this.#entered >= MAX_ENTERED || this.#closed.batches >= MAX_SERIES || this.#closed.columns >= MAX_RECORDS) return null
    this.#entered++
    const { source } = sheet.shape
    let measurement = this.#measurements.get(source)
    if (!measurement) this.#measurements.set(source, measurement = new Measurement())
    measurement.add(sheet)
    sheet.measurement = measurement
    return measurement
  }

  /** Puts together what has been read. */
  #fold () {
    const parts = Array.from(this.#measurements.values()).flatMap(measurement => measurement.fold())
    this.#closed = { batches: parts.length, columns: parts.reduce((sum, { batch }) => sum + OWN_COLUMNS + batch.fields.length, 0) }
    this.release()
    this.#byKey.clear()
    this.#openColumns = 0
  }
}
