import { isWhole } from '../one-number.js'

/**
 * @typedef {import('../../batch/batch.js').Column} Column
 * @typedef {'float64'|'int64'|'bool'|'string'} JsonType
 */

const QUOTE = 0x22

/** A column that values are read into from the bytes of JSON, row by row. Its type is that of its first value. */
export class JsonColumn {
  /** @type {JsonType|null} */
  type = null
  /** The row of its first value. */
  firstRow = -1
  #mostRows
  /** @type {any} */
  #values = null
  /** @type {Uint8Array|null} */
  #valid = null
  /** The last text, and where it began and ended: texts repeat. */
  #text = ''
  #from = 0
  #end = 0

  /** @param {number} mostRows */
  constructor (mostRows) {
    this.#mostRows = mostRows
  }

  /** The value of this row is missing. @param {number} row */
  skip (row) {
    this.#valid ??= new Uint8Array(this.#mostRows).fill(1)
    this.#valid[row] = 0
    if (this.type === 'string') this.#values.push('')
  }

  /**
   * @param {import('./json-reader.js').JsonReader} reader  before the value @param {'number'|'string'|'boolean'} kind @param {number} row
   * @returns {boolean} false: it is no value of this column
   * @throws BROKEN where it is not JSON
   */
  read (reader, kind, row) {
    if (kind === 'number') return this.#takeNumber(reader.number(), row)
    if (kind === 'string') return this.#takeText(reader, row)
    const value = reader.scalar()
    if (typeof value !== 'boolean') return false
    if (this.type === null) this.#begin('bool', row, Uint8Array)
    this.#values[row] = value ? 1 : 0
    return true
  }

  /** @param {number} rows @returns {Column} */
  values (rows) {
    return this.#values.length === rows ? this.#values : this.#values.slice(0, rows)
  }

  /** @param {number} rows */
  validity (rows) {
    return this.#valid && this.#valid.slice(0, rows)
  }

  /** @param {number|bigint} value @param {number} row */
  #takeNumber (value, row) {
    if (typeof value === 'bigint') {
      if (this.type === null) this.#begin('int64', row, BigInt64Array)
      if (this.type !== 'int64' || BigInt.asIntN(64, value) !== value) return false
      this.#values[row] = value
      return true
    }
    if (this.type === null) this.#begin('float64', row, Float64Array)
    if (this.type === 'float64') {
      this.#values[row] = value
      return Number.isFinite(value)
    }
    if (!isWhole(value)) return false
    this.#values[row] = BigInt(value)
    return true
  }

  /** @param {import('./json-reader.js').JsonReader} reader @param {number} row */
  #takeText (reader, row) {
    const { bytes, at: from } = reader
    if (bytes[from] !== QUOTE) return false
    if (this.type === null) this.#begin('string', row, Array)
    const end = reader.endOfString()
    if (!isSame(bytes, this.#from, this.#end, from, end)) {
      this.#text = reader.textBetween(from, end)
      this.#from = from
      this.#end = end
    }
    this.#values.push(this.#text)
    return true
  }

  /** @param {JsonType} type @param {number} row @param {any} Values */
  #begin (type, row, Values) {
    this.type = type
    this.firstRow = row
    this.#values = type === 'string' ? new Array(row).fill('') : new Values(this.#mostRows)
  }
}

/**
 * Whether two ranges hold the same bytes.
 * @param {Buffer} bytes @param {number} from @param {number} to @param {number} at @param {number} end
 */
function isSame (bytes, from, to, at, end) {
  if (to - from !== end - at) return false
  for (; at < end; from++, at++) if (bytes[from] !== bytes[at]) return false
  return true
}
