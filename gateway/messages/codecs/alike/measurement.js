import { together } from './together.js'

/**
 * @typedef {import('./sheet.js').Sheet} Sheet
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 */

/** The rows of a message that are of one source. */
export class Measurement {
  /** @type {Sheet[]} */
  #sheets = []
  /** What was in sheets before. @type {import('./together.js').Part[]} */
  #parts = []
  /** Once there are several sheets: of the first that has the field. @type {Map<string, FieldType>} */
  #types = new Map()
  /**
   * Once fields have several types, or sheets are gone: for each combination of tags, those of its fields.
   * @type {Map<string, Map<string, FieldType>>|null}
   */
  #series = null

  /** With its first row. @param {Sheet} sheet */
  add (sheet) {
    const sheets = this.#sheets
    if (sheets.push(sheet) === 1) return
    if (sheets.length === 2) this.#note(sheets[0])
    if (!this.#note(sheet) || this.#series) return
    this.#keepTypes()
  }

  /** Puts its rows together, of which the sheets are not needed any more. @returns {import('./together.js').Part[]} */
  fold () {
    if (!this.#series) this.#keepTypes()
    this.#parts.push(...together(this.#ofSheets()))
    this.#sheets = []
    return this.#parts
  }

  /** @param {Sheet} sheet @returns {boolean} whether one of its fields has another type than before */
  #note ({ shape }) {
    let isOther = false
    for (const { name, type } of shape.fields) {
      const known = this.#types.get(name)
      if (known === undefined) this.#types.set(name, type)
      else isOther ||= known !== type
    }
    return isOther
  }

  /**
   * Why the row that a sheet has read does not go with those before: with the same tags, a field keeps the type of its first value.
   * @param {Sheet} sheet
   * @returns {string|null}
   */
  conflictOf (sheet) {
    const types = this.#series?.get(keyOf(sheet, sheet.rows))
    if (!types) return null
    for (const { name, type } of sheet.shape.fields) {
      const known = types.get(name) ?? type
      if (known !== type) return `"${name}" is ${type} here and ${known} in the rows before`
    }
    return null
  }

  /** The row that a sheet has read is accepted. @param {Sheet} sheet */
  accept (sheet) {
    if (this.#series) this.#accept(sheet, sheet.rows)
  }

  /** @returns {import('../../../batch/batch.js').Batch[]} one, where not too much of it would be missing */
  batches () {
    const [sheet] = this.#sheets
    if (this.#sheets.length === 1 && sheet.rows > 0 && this.#parts.length === 0) return [sheet.toBatch()]
    return together([...this.#parts, ...this.#ofSheets()]).map(({ batch }) => batch)
  }

  #ofSheets () {
    return this.#sheets.filter(({ rows }) => rows > 0).map(sheet => ({ batch: sheet.toBatch(), indices: sheet.indices }))
  }

  #keepTypes () {
    this.#series = new Map()
    for (const sheet of this.#sheets) for (let row = 0; row < sheet.rows; row++) this.#accept(sheet, row)
  }

  /** @param {Sheet} sheet @param {number} row */
  #accept (sheet, row) {
    const key = keyOf(sheet, row)
    const types = this.#series?.get(key) ?? new Map()
    for (const { name, type } of sheet.shape.fields) types.set(name, type)
    this.#series?.set(key, types)
  }
}

/** @param {Sheet} sheet @param {number} row */
function keyOf (sheet, row) {
  return JSON.stringify(sheet.tagsAt(row))
}
