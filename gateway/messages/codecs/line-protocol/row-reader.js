import { MAX_TAG } from '../../bounds.js'
import { parseTime } from '../../../batch/time.js'
import { describe } from '../../../base/errors.js'
import { POWERS_OF_TEN, nearest } from '../alike/decimal.js'
import { MAX_DIGITS, putDigits } from '../alike/digits.js'
import { BOOLEAN, FLOAT, INTEGER, TAG } from '../alike/shape.js'
import { cells } from '../alike/sheet.js'
import { hashed, textOf } from '../alike/texts.js'
import { NUMBER, TIME, isEscapedInName, isEscapedInText, nameBetween } from './parse.js'

const [COMMA, SPACE, BACKSLASH, QUOTE, RETURN, LINE_END] = Buffer.from(', \\"\r\n')
const [MINUS, PLUS, POINT, ZERO, NINE, SMALL_I, SMALL_U] = Buffer.from('-+.09iu')
const TRUTHS = [...['true', 'false', 't', 'f', 'True', 'False', 'TRUE', 'FALSE', 'T', 'F']].map(word => ({
  word: Buffer.from(word), value: word[0].toLowerCase() === 't' ? 1 : 0
}))

/** Below it, a number holds any integer. */
const EXACT = 2 ** 53

/** Digits of times from 1973 on, which need no closer look. */
const MIN_TIME_DIGITS = 18
const MAX_TIME_DIGITS = 19

/** Reads lines whose shape is known: values go from their bytes into columns. */
export class RowReader {
  #bytes
  /** After a line: where the next one begins. */
  at = 0
  /** Ends of lines in texts of the row. */
  breaks = 0
  hasTime = false
  /** Why the line is no row, though it is one. @type {string|null} */
  fault = null

  /** @param {Buffer} bytes */
  constructor (bytes) {
    this.#bytes = bytes
  }

  /**
   * Reads a line into the next row of a sheet.
   * @param {number} from @param {import('../alike/sheet.js').Sheet} sheet
   * @returns {boolean} false: it has not the sheet's shape, or is no line
   */
  read (from, sheet) {
    const { texts, kinds } = sheet.shape
    this.at = from
    this.breaks = 0
    for (let place = 0; place < kinds.length; place++) {
      if (!this.#passes(texts[place]) || !this.#takes(kinds[place], sheet, place)) return false
    }
    return this.#takesTime(sheet.timeCell)
  }

  /** @param {Uint8Array} text */
  #passes (text) {
    const bytes = this.#bytes
    const { at } = this
    const { length } = text
    if (at + length > bytes.length) return false
    for (let i = 0; i < length; i++) if (bytes[at + i] !== text[i]) return false
    this.at = at + length
    return true
  }

  /** @param {number} kind @param {import('../alike/sheet.js').Sheet} sheet @param {number} place */
  #takes (kind, sheet, place) {
    if (kind === FLOAT) return this.#takesFloat(sheet.cellOf(place))
    if (kind === TAG) return this.#takesTag(sheet.texts[place], sheet.rows)
    if (kind === INTEGER) return this.#takesInteger(sheet.cellOf(place))
    return kind === BOOLEAN ? this.#takesTruth(sheet.cellOf(place)) : this.#takesText(sheet.texts[place], sheet.rows)
  }

  /** @param {number} cell */
  #takesFloat (cell) {
    const bytes = this.#bytes
    const from = this.at
    let at = from
    let byte = bytes[at]
    if (byte === MINUS || byte === PLUS) byte = bytes[++at]
    const start = at
    let mantissa = 0
    while (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + byte - ZERO
      byte = bytes[++at]
    }
    let digits = at - start
    let decimals = 0
    if (byte === POINT) {
      byte = bytes[++at]
      const point = at
      while (byte >= ZERO && byte <= NINE) {
        mantissa = mantissa * 10 + byte - ZERO
        byte = bytes[++at]
      }
      decimals = at - point
      digits += decimals
    }
    if (digits === 0 || !isEnd(byte)) return this.#takesOtherFloat(cell)
    let size = mantissa
    // Where both are exact, their quotient is the nearest number.
    if (mantissa >= EXACT || decimals >= POWERS_OF_TEN.length) size = nearest(bytes, start, at, decimals)
    else if (decimals > 0) size /= POWERS_OF_TEN[decimals]
    if (Number.isNaN(size)) return this.#takesOtherFloat(cell)
    cells.floats[cell] = bytes[from] === MINUS ? -size : size
    this.at = at
    return true
  }

  /** One with an exponent, or very many digits. @param {number} cell */
  #takesOtherFloat (cell) {
    const from = this.at
    this.at = this.#endOfWord()
    const word = this.#bytes.toString('latin1', from, this.at)
    if (!NUMBER.test(word)) return false
    cells.floats[cell] = Number(word)
    return Number.isFinite(cells.floats[cell])
  }

  /** @param {number} cell */
  #takesInteger (cell) {
    const bytes = this.#bytes
    let { at } = this
    const isNegative = bytes[at] === MINUS
    if (isNegative) at++
    const from = at
    while (bytes[at] >= ZERO && bytes[at] <= NINE) at++
    const to = at
    const mark = bytes[at++]
    if ((mark !== SMALL_I && (mark !== SMALL_U || isNegative)) || !isEnd(bytes[at])) return false
    this.at = at
    return to > from && to - from <= MAX_DIGITS && putDigits(cells.halves, cell, bytes, from, to, isNegative)
  }

  /** @param {number} cell */
  #takesTruth (cell) {
    for (let i = 0; i < TRUTHS.length; i++) {
      const { word, value } = TRUTHS[i]
      const { at } = this
      if (!this.#passes(word)) continue
      if (isEnd(this.#bytes[this.at])) {
        cells.floats[cell] = value
        return true
      }
      this.at = at
    }
    return false
  }

  /** @param {string[]} texts @param {number} row */
  #takesText (texts, row) {
    const bytes = this.#bytes
    if (bytes[this.at] !== QUOTE) return false
    const from = this.at + 1
    let at = from
    let hash = 0
    let hasEscapes = false
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at]) {
      if (at >= bytes.length) return false
      if (byte === LINE_END) this.breaks++
      else if (byte === BACKSLASH && isEscapedInText(bytes[at + 1])) {
        hasEscapes = true
        at++
      }
      hash = hashed(hash, byte)
    }
    texts[row] = hasEscapes ? unescaped(bytes.toString('utf8', from, at)) : textOf(bytes, from, at, hash)
    this.at = at + 1
    return true
  }

  /** @param {string[]} texts @param {number} row */
  #takesTag (texts, row) {
    const bytes = this.#bytes
    const from = this.at
    let at = from
    let hash = 0
    let hasEscapes = false
    for (let byte = bytes[at]; at < bytes.length && byte !== COMMA && byte !== SPACE && byte !== LINE_END; byte = bytes[++at]) {
      if (byte === BACKSLASH && isEscapedInName(bytes[at + 1])) {
        hasEscapes = true
        at++
      }
      hash = hashed(hash, byte)
    }
    this.at = at
    const text = hasEscapes ? nameBetween(bytes, from, at, true) : textOf(bytes, from, at, hash)
    texts[row] = text
    return text.length <= MAX_TAG
  }

  /** What stands after the values. @param {number} cell */
  #takesTime (cell) {
    const bytes = this.#bytes
    while (bytes[this.at] === SPACE) this.at++
    const from = this.at
    let at = from
    while (bytes[at] >= ZERO && bytes[at] <= NINE) at++
    const digits = at - from
    const isPlain = digits >= MIN_TIME_DIGITS && digits <= MAX_TIME_DIGITS && bytes[from] !== ZERO && isEnd(bytes[at])
    this.fault = null
    this.at = isPlain ? at : this.#endOfWord()
    this.hasTime = this.at > from
    const isRead = !this.hasTime || (isPlain && putDigits(cells.halves, cell, bytes, from, at, false))
    if (!isRead && !this.#takesOtherTime(cell, from)) return false
    while (bytes[this.at] === SPACE || bytes[this.at] === RETURN) this.at++
    if (this.at < bytes.length && bytes[this.at] !== LINE_END) return false
    this.at++
    return true
  }

  /** One to be looked at. @param {number} cell @param {number} from */
  #takesOtherTime (cell, from) {
    const word = this.#bytes.toString('latin1', from, this.at)
    if (!TIME.test(word)) return false
    try {
      cells.integers[cell] = parseTime(word, 'ns')
    } catch (error) {
      this.fault = describe(error)
    }
    return true
  }

  #endOfWord () {
    let { at } = this
    while (!isEnd(this.#bytes[at])) at++
    return at
  }
}

/** What stands behind a value, or nothing. @param {number|undefined} byte */
function isEnd (byte) {
  return byte === COMMA || byte === SPACE || byte === LINE_END || byte === RETURN || byte === undefined
}

/**
 * A text without the backslashes before quotes and backslashes: in one piece, as millions of small ones take a hundred times its memory.
 * @param {string} text
 */
function unescaped (text) {
  const units = new Uint16Array(text.length)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && (text[i + 1] === '"' || text[i + 1] === '\\')) i++
    units[length++] = text.charCodeAt(i)
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le')
}
