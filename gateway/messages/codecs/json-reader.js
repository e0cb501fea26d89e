import { MAX_NESTING, tooLarge } from '../bounds.js'
import { POWERS_OF_TEN, nearest } from './alike/decimal.js'

/**
 * Reads JSON from its bytes, as strictly as JSON.parse, but whole numbers beyond 2^53 to the digit: as BigInt where 64 bits hold them, or
 * where no number is printed like that. The bytes must be UTF-8.
 */

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, POINT, ZERO, NINE] = Buffer.from('"\\,:-.09')
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, SMALL_E, LARGE_E, PLUS] = Buffer.from('[]{}eE+')
const [TRUE, FALSE, NULL] = ['true', 'false', 'null'].map(word => Buffer.from(word))
/** Digits of which a number holds any. */
const EXACT_DIGITS = 15
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Thrown where the bytes are not JSON: JSON.parse says why. */
export const BROKEN = Symbol('not JSON')

/** Names that have been read: mostly the same ones come again. @type {({bytes: Buffer, text: string}|undefined)[]} */
const names = new Array(1024)
const MAX_KEPT_NAME = 64

export class JsonReader {
  #depth = 0
  #isEscaped = false
  #isAscii = true

  /** @param {Buffer} bytes */
  constructor (bytes) {
    this.bytes = bytes
    this.at = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? 3 : 0
  }

  /** All there is. @returns {unknown} @throws BROKEN, or SLUICE_MESSAGE_TOO_LARGE where it is nested too deeply */
  document () {
    this.skipSpace()
    const value = this.value()
    this.skipSpace()
    if (this.at < this.bytes.length) throw BROKEN
    return value
  }

  /** The value that begins here. @returns {unknown} */
  value () {
    const byte = this.bytes[this.at]
    if (byte !== OPEN_OBJECT && byte !== OPEN_ARRAY) return this.scalar()
    if (++this.#depth > MAX_NESTING) throw tooLarge(`its objects and arrays are nested more than ${MAX_NESTING} deep`, 'Send flat objects.')
    this.at++
    this.skipSpace()
    const value = byte === OPEN_OBJECT ? this.#object() : this.#array()
    this.#depth--
    return value
  }

  /** The text, number, truth value or null that begins here. @returns {string|number|bigint|boolean|null} */
  scalar () {
    const byte = this.bytes[this.at]
    if (byte === QUOTE) return this.string()
    if (byte === TRUE[0]) return this.#word(TRUE, true)
    if (byte === FALSE[0]) return this.#word(FALSE, false)
    if (byte === NULL[0]) return this.#word(NULL, null)
    return this.number()
  }

  /** @returns {number|bigint} */
  number () {
    const { bytes } = this
    const from = this.at
    let at = from
    if (bytes[at] === MINUS) at++
    const start = at
    let mantissa = 0
    let byte = bytes[at]
    while (byte >= ZERO && byte <= NINE) {
      mantissa = mantissa * 10 + byte - ZERO
      byte = bytes[++at]
    }
    let digits = at - start
    if (digits === 0 || (bytes[start] === ZERO && digits > 1)) throw BROKEN
    let decimals = 0
    if (byte === POINT) {
      byte = bytes[++at]
      while (byte >= ZERO && byte <= NINE) {
        mantissa = mantissa * 10 + byte - ZERO
        decimals++
        byte = bytes[++at]
      }
      if (decimals === 0) throw BROKEN
      digits += decimals
    }
    if (byte === SMALL_E || byte === LARGE_E) {
      this.at = endOfExponent(bytes, at)
      return Number(bytes.toString('latin1', from, this.at))
    }
    this.at = at
    if (digits > EXACT_DIGITS) {
      const number = decimals === 0 ? NaN : nearest(bytes, start, at, decimals)
      if (Number.isNaN(number)) return longNumber(bytes.toString('latin1', from, at), decimals === 0)
      return start > from ? -number : number
    }
    // Both are exact, so their quotient is the nearest number.
    const size = decimals === 0 ? mantissa : mantissa / POWERS_OF_TEN[decimals]
    return start > from ? -size : size
  }

  /** @returns {string} */
  string () {
    const from = this.at
    return this.textBetween(from, this.endOfString())
  }

  /** The text that `endOfString` has just passed. @param {number} from  its opening quote @param {number} end  its closing one */
  textBetween (from, end) {
    if (this.#isEscaped) return unescaped(this.bytes.toString('utf8', from, end + 1))
    return this.#isAscii ? this.bytes.toString('latin1', from + 1, end) : this.bytes.toString('utf8', from + 1, end)
  }

  /** Goes on to behind the text that begins here. @returns {number} where its closing quote is */
  endOfString () {
    const { bytes } = this
    let at = this.at + 1
    let all = 0
    this.#isEscaped = false
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[at]) {
      if (!(byte >= 0x20)) throw BROKEN // a control character, or the end of the bytes
      if (byte === BACKSLASH) {
        this.#isEscaped = true
        at++
      }
      all |= byte
      at++
    }
    this.#isAscii = all < 0x80
    this.at = at + 1
    return at
  }

  skipSpace () {
    const { bytes } = this
    let byte = bytes[this.at]
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++this.at]
  }

  #object () {
    /** @type {Record<string, unknown>} */
    const object = {}
    if (this.#take(CLOSE_OBJECT)) return object
    for (;;) {
      const name = this.#name()
      this.skipSpace()
      if (!this.#take(COLON)) throw BROKEN
      this.skipSpace()
      const value = this.value()
      if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
      else object[name] = value
      this.skipSpace()
      if (this.#take(CLOSE_OBJECT)) return object
      if (!this.#take(COMMA)) throw BROKEN
      this.skipSpace()
    }
  }

  #array () {
    /** @type {unknown[]} */
    const array = []
    if (this.#take(CLOSE_ARRAY)) return array
    for (;;) {
      array.push(this.value())
      this.skipSpace()
      if (this.#take(CLOSE_ARRAY)) return array
      if (!this.#take(COMMA)) throw BROKEN
      this.skipSpace()
    }
  }

  #name () {
    const { bytes } = this
    if (bytes[this.at] !== QUOTE) throw BROKEN
    const from = this.at
    const end = this.endOfString()
    const length = end - from - 1
    if (this.#isEscaped || length === 0 || length > MAX_KEPT_NAME) return this.textBetween(from, end)
    const place = (length * 31 + bytes[from + 1] * 7 + bytes[end - 1] * 131 + bytes[from + 1 + (length >> 1)]) & 1023
    const kept = names[place]
    if (kept && kept.bytes.length === length && isAt(bytes, from + 1, kept.bytes)) return kept.text
    const text = bytes.toString('utf8', from + 1, end)
    names[place] = { bytes: Buffer.from(bytes.subarray(from + 1, end)), text }
    return text
  }

  /** @template T @param {Buffer} word @param {T} value @returns {T} */
  #word (word, value) {
    if (!isAt(this.bytes, this.at, word)) throw BROKEN
    this.at += word.length
    return value
  }

  /** @param {number} byte */
  #take (byte) {
    if (this.bytes[this.at] !== byte) return false
    this.at++
    return true
  }
}

/** Whether these bytes are there. @param {Buffer} bytes @param {number} at @param {Uint8Array} wanted */
export function isAt (bytes, at, wanted) {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}

/** @param {Buffer} bytes @param {number} at  of its letter */
function endOfExponent (bytes, at) {
  at++
  if (bytes[at] === PLUS || bytes[at] === MINUS) at++
  const start = at
  while (bytes[at] >= ZERO && bytes[at] <= NINE) at++
  if (at === start) throw BROKEN
  return at
}

/** @param {string} text @param {boolean} isWhole */
function longNumber (text, isWhole) {
  const number = Number(text)
  if (!isWhole || Number.isSafeInteger(number)) return number
  const exact = BigInt(text)
  return BigInt.asIntN(64, exact) !== exact && String(number) === text ? number : exact
}

/** @param {string} literal  with its quotes @returns {string} */
function unescaped (literal) {
  try {
    return JSON.parse(literal)
  } catch {
    throw BROKEN
  }
}
