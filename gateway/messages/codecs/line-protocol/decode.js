import { CellBudget, MAX_ROWS, MAX_SERIES, tooLarge } from '../../bounds.js'
import { Refusals } from '../../refusals.js'
import { describe } from '../../../base/errors.js'
import { Measurement } from './measurement.js'
import { LineParser } from './parse.js'
import { RowReader } from './row-reader.js'
import { Shape } from './shape.js'
import { expectedShape, follow, keep, likelyShapes } from './shapes.js'
import { Sheet, cells } from './sheet.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('../../payload.js').Refused} Refused
 */

/** Rows that there is room for before the first is read, at most. */
const MAX_EXPECTED_ROWS = 4096
const [TAB, SPACE, RETURN, LINE_END, HASH, EQUALS] = Buffer.from('\t \r\n#=')

/**
 * The points of a text as Telegraf publishes it, times in nanoseconds. The measurement is the source, its rows are one batch with a column
 * for each tag; several where too much of it would be missing, or where fields of one name have different types.
 * @param {Uint8Array} message  UTF-8
 * @param {{now: () => bigint}} options  of points without a time
 * @returns {{batches: Batch[], refused: Refused[]}|null} null where it does not begin with a valid point: it is something else
 */
export function decodeLines (message, { now }) {
  const bytes = Buffer.isBuffer(message) ? message : Buffer.from(message.buffer, message.byteOffset, message.length)
  if (!bytes.includes(EQUALS)) return null
  const lines = new LineReader(bytes, now)
  const refused = new Refusals()
  try {
    let index = 0
    for (; lines.seek(); index++) {
      if (index === MAX_ROWS) {
        refused.add(-1, describe(tooLarge(`it has over ${MAX_ROWS} lines, and the rest of them is left out`)), bytes)
        break
      }
      const { at, line } = lines
      const reason = lines.take(index)
      if (reason === null) continue
      if (index === 0 && !lines.isPoint) return null
      if (!refused.addRow(index, `line ${line}: ${reason}`, lines.textFrom(at))) break
    }
    return index === 0 ? null : { batches: lines.batches(), refused: refused.list(bytes) }
  } finally {
    lines.release()
  }
}

/** Goes through a message line by line. */
class LineReader {
  at = 0
  /** Counted from 1. */
  line = 1
  /** Whether the line before was a point. */
  isPoint = false
  #bytes
  #now
  #row
  /** Those that have been looked for, by the keys of their shapes. @type {Map<string, Sheet>} */
  #sheets = new Map()
  /** @type {Map<string, Measurement>} */
  #measurements = new Map()
  /** How many sheets have rows. */
  #entered = 0
  #budget = new CellBudget()
  #tagBudget = new CellBudget()

  /** @param {Buffer} bytes @param {() => bigint} now */
  constructor (bytes, now) {
    this.#bytes = bytes
    this.#now = now
    this.#row = new RowReader(bytes)
  }

  /** Goes to the next line that is not blank or a comment. @returns {boolean} false: there is none */
  seek () {
    const bytes = this.#bytes
    while (this.at < bytes.length) {
      const byte = bytes[this.at]
      if (byte === HASH) this.#skipLine()
      else if (byte === LINE_END || byte === SPACE || byte === TAB || byte === RETURN) {
        if (byte === LINE_END) this.line++
        this.at++
      } else return true
    }
    return false
  }

  /** Reads the line that begins here, and goes on to the next. @param {number} index @returns {string|null} why it was refused */
  take (index) {
    try {
      const sheet = this.#read(index)
      this.isPoint = true
      this.at = this.#row.at
      this.line += this.#row.breaks + 1
      follow(sheet.shape)
      return this.#accept(sheet, index)
    } catch (problem) {
      if (typeof problem !== 'string') throw problem
      this.isPoint = false
      return problem
    }
  }

  /** What was refused. @param {number} from  where it begins */
  textFrom (from) {
    return this.#bytes.toString('utf8', from, this.#bytes[this.at - 1] === LINE_END ? this.at - 1 : this.at)
  }

  batches () {
    /** @type {Batch[]} */
    const batches = []
    for (const measurement of this.#measurements.values()) batches.push(...measurement.batches())
    return batches
  }

  /** The next message can be read. */
  release () {
    for (const { shape } of this.#sheets.values()) shape.sheet = null
    cells.release()
  }

  /** @param {number} index @returns {Sheet} whose next row is the line @throws {string} why it is none */
  #read (index) {
    const from = this.at
    const row = this.#row
    const expected = expectedShape()
    const sheet = expected && this.#sheetOf(expected, index)
    if (sheet && row.read(from, sheet)) return sheet
    for (const shape of likelyShapes(this.#bytes, from)) {
      const likely = this.#sheetOf(shape, index)
      if (shape !== expected && row.read(from, likely)) return likely
    }
    return this.#readUnknown(index)
  }

  /** @param {number} index @returns {Sheet} @throws {string} */
  #readUnknown (index) {
    const parser = new LineParser(this.#bytes)
    try {
      const line = parser.parse(this.at)
      const learned = new Shape(this.#bytes, this.at, line)
      const shape = this.#sheets.get(learned.key)?.shape ?? learned
      if (!shape.isKept) keep(shape, this.#bytes, this.at)
      const sheet = this.#sheetOf(shape, index)
      if (!this.#row.read(this.at, sheet)) throw 'it cannot be read'
      return sheet
    } catch (problem) {
      this.at = parser.at
      this.line += parser.breaks
      this.#skipLine()
      throw problem
    }
  }

  /** @param {Shape} shape @param {number} index  of the line */
  #sheetOf (shape, index) {
    if (shape.sheet) {
      shape.sheet.makeRoom()
      return shape.sheet
    }
    const expected = index === 0 ? Math.ceil((this.#bytes.length - this.at) / shape.lineBytes) : 1
    shape.sheet = new Sheet(shape, Math.min(expected, MAX_EXPECTED_ROWS))
    this.#sheets.set(shape.key, shape.sheet)
    return shape.sheet
  }

  /** @param {Sheet} sheet  whose next row has been read @param {number} index @returns {string|null} why it was refused */
  #accept (sheet, index) {
    const { shape } = sheet
    if (shape.hasFieldTwice) return 'it has a field twice'
    const fault = this.#row.fault ?? shape.fault
    if (fault) return fault
    const measurement = sheet.measurement ?? this.#enter(sheet)
    if (measurement === null) return `the message has more than ${MAX_SERIES} combinations of measurement, tags and fields`
    const conflict = measurement.conflictOf(sheet)
    if (conflict) return conflict
    const noRoom = this.#budget.take(shape.fields.length, shape.fields.length) ?? this.#tagBudget.take(shape.tags.length, shape.tags.length)
    if (noRoom) return noRoom
    if (!this.#row.hasTime) cells.integers[sheet.timeCell] = this.#now()
    measurement.accept(sheet)
    sheet.add(index)
    return null
  }

  /** A sheet that has its first row. @param {Sheet} sheet @returns {Measurement|null} null where there are too many */
  #enter (sheet) {
    if (this.#entered === MAX_SERIES) return null
    this.#entered++
    const name = sheet.shape.measurement
    let measurement = this.#measurements.get(name)
    if (!measurement) this.#measurements.set(name, measurement = new Measurement())
    measurement.add(sheet)
    sheet.measurement = measurement
    return measurement
  }

  /** To the beginning of the next line. */
  #skipLine () {
    const end = this.#bytes.indexOf(LINE_END, this.at)
    this.at = end === -1 ? this.#bytes.length : end + 1
    this.line++
  }
}
