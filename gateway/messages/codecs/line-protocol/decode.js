import { MAX_NAME, MAX_ROWS, tooLarge } from '../../bounds.js'
import { nameFault, quoted } from '../../gatherer.js'
import { Refusals } from '../../refusals.js'
import { describe } from '../../../base/errors.js'
import { KnownShapes } from '../alike/known-shapes.js'
import { Shape } from '../alike/shape.js'
import { cells, Sheet } from '../alike/sheet.js'
import { Sheets } from '../alike/sheets.js'
import { hashed } from '../alike/texts.js'
import { LineParser } from './parse.js'
import { RowReader } from './row-reader.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('../../payload.js').Refused} Refused
 */

const [TAB, SPACE, RETURN, LINE_END, HASH, EQUALS, COMMA] = Buffer.from('\t \r\n#=,')
const FIELD_TWICE = 'it has a field twice'

/** Of a shape that has its own place for a message of one line. */
const MAX_LINE_PLACES = 256

const shapes = new KnownShapes()

/**
 * The points of a text as Telegraf publishes it, times in nanoseconds. The measurement is the source, its rows are one batch with a column
 * for each tag; several where too much of it would be missing, or where fields of one name have different types.
 * @param {Uint8Array} message  UTF-8
 * @param {{now: () => bigint}} options  of points without a time
 * @returns {{batches: Batch[], refused: Refused[]}|null} null where it does not begin with a valid point: it is something else
 */
export function decodeLines (message, { now }) {
  const bytes = Buffer.isBuffer(message) ? message : Buffer.from(message.buffer, message.byteOffset, message.length)
  const only = onlyLine(bytes, now)
  if (only) return { batches: [only], refused: [] }
  if (!bytes.includes(EQUALS)) return null
  const sheets = new Sheets()
  const lines = new LineReader(bytes, sheets, now)
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
    return index === 0 ? null : { batches: sheets.batches(), refused: refused.list(bytes) }
  } finally {
    sheets.release()
  }
}

/**
 * The fast path of small messages: the row of one that is a line like one before.
 * @param {Buffer} bytes @param {() => bigint} now
 * @returns {Batch|null} null where it is to be read the other way
 */
function onlyLine (bytes, now) {
  const row = new RowReader(bytes)
  const { expected } = shapes
  if (expected && fitsAll(expected, row, bytes)) return batchOf(expected, row, now)
  for (const shape of shapes.likely(hashAt(bytes, 0))) if (shape !== expected && fitsAll(shape, row, bytes)) return batchOf(shape, row, now)
  return null
}

/** @param {Shape} shape @param {RowReader} row @param {Buffer} bytes */
function fitsAll (shape, row, bytes) {
  if (shape.fault || shape.kinds.length > MAX_LINE_PLACES) return false
  shape.line ??= new Sheet(shape, 1)
  return row.read(0, shape.line) && row.fault === null && row.at >= bytes.length
}

/** @param {Shape} shape  whose line has been read @param {RowReader} row @param {() => bigint} now */
function batchOf (shape, { hasTime }, now) {
  const sheet = /** @type {Sheet} */ (shape.line)
  if (!hasTime) cells.integers[sheet.timeCell] = now()
  shapes.follow(shape)
  return sheet.toOne()
}

/** Of the measurement. @param {Buffer} bytes @param {number} at  where it begins */
function hashAt (bytes, at) {
  let hash = 0
  for (; bytes[at] > SPACE && bytes[at] !== COMMA; at++) hash = hashed(hash, bytes[at])
  return hash
}

/** Goes through a message line by line. */
class LineReader {
  at = 0
  /** Counted from 1. */
  line = 1
  /** Whether the line before was a point. */
  isPoint = false
  #bytes
  #sheets
  #now
  #row

  /** @param {Buffer} bytes @param {Sheets} sheets @param {() => bigint} now */
  constructor (bytes, sheets, now) {
    this.#bytes = bytes
    this.#sheets = sheets
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
      const sheet = this.#known() ?? this.#unknown()
      this.isPoint = true
      this.at = this.#row.at
      this.line += this.#row.breaks + 1
      shapes.follow(sheet.shape)
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

  /** @returns {Sheet|null} whose next row is the line; null where it is not like one before */
  #known () {
    const { expected } = shapes
    if (expected && this.#fits(expected)) return expected.sheet
    for (const shape of shapes.likely(hashAt(this.#bytes, this.at))) if (shape !== expected && this.#fits(shape)) return shape.sheet
    return null
  }

  /** @returns {Sheet} whose next row is the line @throws {string} why it is none */
  #unknown () {
    const parser = new LineParser(this.#bytes)
    try {
      const line = parser.parse(this.at)
      const places = [...line.tags, ...line.fields]
      const time = places[places.length - 1].to // spaces before it may vary
      const row = { source: line.measurement, places, from: this.at, time, to: parser.at }
      const shape = this.#sheets.same(new Shape(this.#bytes, row))
      shape.fault = faultOf(line)
      shapes.keep(shape, hashAt(this.#bytes, this.at))
      if (!this.#fits(shape)) throw 'it cannot be read'
      return /** @type {Sheet} */ (shape.sheet)
    } catch (problem) {
      this.at = parser.at
      this.line += parser.breaks
      this.#skipLine()
      throw problem
    }
  }

  /** Reads the line if it has this shape. @param {Shape} shape */
  #fits (shape) {
    return this.#row.read(this.at, this.#sheets.of(shape, this.#bytes.length - this.at))
  }

  /** @param {Sheet} sheet  whose next row has been read @param {number} index @returns {string|null} why it was refused */
  #accept (sheet, index) {
    const { fault } = sheet.shape
    const first = fault === FIELD_TWICE ? fault : this.#row.fault ?? fault
    if (first) return first
    if (!this.#row.hasTime) cells.integers[sheet.timeCell] = this.#now()
    return this.#sheets.accept(sheet, index)
  }

  /** To the beginning of the next line. */
  #skipLine () {
    const end = this.#bytes.indexOf(LINE_END, this.at)
    this.at = end === -1 ? this.#bytes.length : end + 1
    this.line++
  }
}

/** Why none that is like a line can be a row. @param {import('./parse.js').Line} line */
function faultOf ({ measurement, tags, fields }) {
  if (new Set(fields.map(({ name }) => name)).size < fields.length) return FIELD_TWICE
  if (measurement.length > MAX_NAME) return `its source ${quoted(measurement)} is over ${MAX_NAME} characters`
  for (const { name } of tags.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
    const fault = nameFault(name)
    if (fault) return `its tag ${quoted(name)} ${fault}`
  }
  return null
}
