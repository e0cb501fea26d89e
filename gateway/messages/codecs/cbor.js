import { isUtf8 } from 'node:buffer'
import { MAX_NESTING, MAX_RECORDS, MAX_VALUES, tooLarge } from '../bounds.js'
import { halfFloat } from './half-float.js'

/**
 * Reads CBOR (RFC 8949): maps are Maps, integers beyond 2^53 BigInts, byte strings Uint8Arrays. Of tags it knows big numbers and decimal
 * fractions; others are left out. Lengths are not believed, and what it may become is bounded.
 */

const Major = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 }
const Tag = { positive: 2, negative: 3, decimal: 4 }
const INDEFINITE = -1
const MAX_BIG_BYTES = 16
const MAX_EXPONENT = 400

/** Ends what has no length. */
const BREAK = Symbol('break')

export class CborReader {
  #bytes
  #view
  #at = 0
  #depth = 0
  #values = 0
  #containers = 0

  /** @param {Uint8Array} bytes */
  constructor (bytes) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** All there is. @returns {unknown} @throws {Error} that says what is wrong with it */
  document () {
    try {
      const value = this.#value()
      if (value === BREAK) throw new Error('it ends what has not begun')
      if (this.#at < this.#bytes.length) throw new Error(`there is more after its end at byte ${this.#at}`)
      return value
    } catch (error) {
      throw error instanceof RangeError ? this.#cutShort() : error
    }
  }

  /** @returns {unknown} */
  #value () {
    if (++this.#values > MAX_VALUES) throw tooLarge(`it has over ${MAX_VALUES} values`)
    if (this.#at >= this.#bytes.length) throw this.#cutShort()
    const major = this.#bytes[this.#at] >> 5
    if (major === Major.simple) return this.#simple()
    const count = this.#count()
    switch (major) {
      case Major.unsigned: return whole(count)
      case Major.negative: return whole(-1n - BigInt(count))
      case Major.bytes: return new Uint8Array(this.#string(count, major))
      case Major.text: return this.#text(count)
      case Major.tag: return this.#within(() => this.#tagged(count))
      case Major.array: return this.#container(() => this.#items(count))
      default: return this.#container(() => this.#map(count))
    }
  }

  /** A head's argument. @returns {number|bigint} INDEFINITE where there is none */
  #count () {
    const info = this.#bytes[this.#at++] & 0x1f
    if (info < 24) return info
    const from = this.#at
    if (info > 27 && info < 31) throw new Error(`its byte ${from - 1} is reserved`)
    if (info === 31) return INDEFINITE
    this.#at += 1 << (info - 24)
    switch (info) {
      case 24: return this.#view.getUint8(from)
      case 25: return this.#view.getUint16(from)
      case 26: return this.#view.getUint32(from)
      default: return this.#view.getBigUint64(from)
    }
  }

  #simple () {
    const info = this.#bytes[this.#at++] & 0x1f
    const from = this.#at
    switch (info) {
      case 20: return false
      case 21: return true
      case 22:
      case 23: return null
      case 25:
        this.#at += 2
        return halfFloat(this.#view.getUint16(from))
      case 26:
        this.#at += 4
        return this.#view.getFloat32(from)
      case 27:
        this.#at += 8
        return this.#view.getFloat64(from)
      case 31: return BREAK
    }
    throw new Error(`its byte ${from - 1} is no value that is known`)
  }

  /** @param {number|bigint} count @param {number} major @returns {Buffer} */
  #string (count, major) {
    if (count !== INDEFINITE) {
      const from = this.#at
      this.#at += this.#size(count)
      return this.#bytes.subarray(from, this.#at)
    }
    const parts = []
    while (this.#bytes[this.#at] !== 0xff) {
      if (this.#at >= this.#bytes.length) throw this.#cutShort()
      if (++this.#values > MAX_VALUES) throw tooLarge(`it has over ${MAX_VALUES} values`)
      if (this.#bytes[this.#at] >> 5 !== major) throw new Error('a string has a part of another type')
      const length = this.#count()
      if (length === INDEFINITE) throw new Error('a string has a part without a length')
      parts.push(this.#string(length, major))
    }
    this.#at++
    return Buffer.concat(parts)
  }

  /** @param {number|bigint} count */
  #text (count) {
    const bytes = this.#string(count, Major.text)
    if (!isUtf8(bytes)) throw new Error('a text is not UTF-8')
    return bytes.toString()
  }

  /** @param {number|bigint} tag */
  #tagged (tag) {
    const value = this.#value()
    if (value === BREAK) throw new Error('a tag has no value')
    if ((tag === Tag.positive || tag === Tag.negative) && value instanceof Uint8Array && value.length <= MAX_BIG_BYTES) {
      const size = BigInt(`0x0${Buffer.from(value).toString('hex')}`)
      return whole(tag === Tag.positive ? size : -1n - size)
    }
    return tag === Tag.decimal ? decimal(value) : value
  }

  /** @param {number|bigint} count */
  #items (count) {
    const items = []
    const length = count === INDEFINITE ? Infinity : this.#size(count)
    while (items.length < length) {
      const item = this.#value()
      if (item === BREAK) {
        if (length !== Infinity) throw new Error('an array ends too early')
        break
      }
      items.push(item)
    }
    return items
  }

  /** @param {number|bigint} count */
  #map (count) {
    /** @type {Map<unknown, unknown>} */
    const map = new Map()
    const pairs = count === INDEFINITE ? Infinity : this.#size(count)
    for (let i = 0; i < pairs; i++) {
      const key = this.#value()
      if (key === BREAK && pairs === Infinity) break
      const value = this.#value()
      if (key === BREAK || value === BREAK) throw new Error('a map ends too early')
      map.set(key, value)
    }
    return map
  }

  /** As many bytes or items as can still be there. @param {number|bigint} count */
  #size (count) {
    if (count > this.#bytes.length - this.#at) throw this.#cutShort()
    return Number(count)
  }

  #cutShort () {
    return new Error(`it is cut short at byte ${this.#bytes.length}`)
  }

  /** @template T @param {() => T} read @returns {T} */
  #container (read) {
    // An empty one takes a byte here, and hundreds in memory.
    if (++this.#containers > MAX_RECORDS + 1) throw tooLarge(`it has over ${MAX_RECORDS} arrays and maps`)
    return this.#within(read)
  }

  /** @template T @param {() => T} read @returns {T} */
  #within (read) {
    if (++this.#depth > MAX_NESTING) throw tooLarge(`its arrays and maps are nested more than ${MAX_NESTING} deep`, 'Send flat ones.')
    const value = read()
    this.#depth--
    return value
  }
}

/** @param {number|bigint} value @returns {number|bigint} */
function whole (value) {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** @param {unknown} parts  an exponent of ten and what it multiplies */
function decimal (parts) {
  const [exponent, mantissa] = Array.isArray(parts) ? parts : []
  const isNumber = typeof mantissa === 'bigint' || typeof mantissa === 'number'
  if (!isNumber || !(Math.abs(exponent) <= MAX_EXPONENT)) throw new Error('a decimal fraction is not an exponent and a number')
  return Number(`${mantissa}e${exponent}`)
}
