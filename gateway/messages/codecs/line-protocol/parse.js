import { MAX_FIELDS, MAX_TAG, MAX_TAGS } from '../../bounds.js'
import { nameFault, quoted } from '../../gatherer.js'

/**
 * Reads a line of InfluxDB line protocol: `measurement,tag=value field=1.5,other=3i 1436509052249713000`: whether it is one, and where its
 * parts are. Lines that are like one before do not come here.
 *
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {{name: string, from: number, to: number}} TagPlace  where its value is
 * @typedef {{name: string, type: FieldType, from: number, to: number}} FieldPlace
 * @typedef {{measurement: string, tags: TagPlace[], fields: FieldPlace[]}} Line
 */

export const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const INTEGER = /^(?:(-?\d{1,20})i|(\d{1,20})u)$/
export const TIME = /^-?\d{1,19}$/
const TRUTH = /^(?:[tTfF]|true|True|TRUE|false|False|FALSE)$/

const [COMMA, SPACE, EQUALS, BACKSLASH, QUOTE, RETURN, LINE_END] = Buffer.from(', =\\"\r\n')
/** Bytes of a character of UTF-16, at most; an escaped one has two. */
const CHARACTER_BYTES = 3

export class LineParser {
  #bytes
  /** Where it stands: at the end of the line, or where it is none. */
  at = 0
  /** Ends of lines in texts that it has passed. */
  breaks = 0

  /** @param {Buffer} bytes */
  constructor (bytes) {
    this.#bytes = bytes
  }

  /** @param {number} from @returns {Line} @throws {string} why it is none */
  parse (from) {
    this.at = from
    this.breaks = 0
    const measurement = this.#name(false)
    if (measurement === '') throw 'it has no measurement'
    const tags = this.#tags()
    this.#expect(SPACE, 'no space before the fields')
    while (this.#take(SPACE));
    /** @type {FieldPlace[]} */
    const fields = []
    do {
      if (fields.push(this.#field()) > MAX_FIELDS) throw `there are more than ${MAX_FIELDS} fields`
    } while (this.#take(COMMA))
    while (this.#take(SPACE));
    const time = this.#word(false)
    if (time !== '' && !TIME.test(time)) throw `its time ${quoted(time)} is not a whole number`
    while (this.#take(SPACE) || this.#take(RETURN));
    if (this.at < this.#bytes.length && this.#bytes[this.at] !== LINE_END) throw 'there is more after the time'
    return { measurement, tags, fields }
  }

  #tags () {
    /** @type {Map<string, TagPlace>} */
    const tags = new Map()
    while (this.#take(COMMA)) {
      if (tags.size === MAX_TAGS) throw `it has more than ${MAX_TAGS} tags`
      const name = this.#name(true)
      this.#expect(EQUALS, 'a tag without a value')
      if (tags.has(name)) throw `the tag ${quoted(name)} occurs twice`
      const from = this.at
      this.#name(false)
      tags.set(name, { name, from, to: this.at })
    }
    return [...tags.values()]
  }

  /** @returns {FieldPlace} */
  #field () {
    const name = this.#name(true)
    const fault = nameFault(name)
    if (fault) throw `a field ${fault}`
    this.#expect(EQUALS, `the field ${quoted(name)} has no value`)
    const from = this.at
    const type = this.#take(QUOTE) ? this.#text() : this.#typeOf(name, this.#word(true))
    return { name, type, from, to: this.at }
  }

  /** @param {string} name @param {string} word @returns {FieldType} */
  #typeOf (name, word) {
    if (NUMBER.test(word) && Number.isFinite(Number(word))) return 'float64'
    if (TRUTH.test(word)) return 'bool'
    const [, signed, unsigned] = INTEGER.exec(word) ?? []
    const digits = signed ?? unsigned
    if (digits === undefined) throw `the field ${quoted(name)} has the value ${quoted(word)}`
    const value = BigInt(digits)
    if (BigInt.asIntN(64, value) !== value) throw `the field ${quoted(name)} does not fit a 64-bit integer`
    return 'int64'
  }

  /** After the opening quote, to beyond the closing one. @returns {FieldType} */
  #text () {
    const bytes = this.#bytes
    for (; this.at < bytes.length; this.at++) {
      const byte = bytes[this.at]
      if (byte === LINE_END) this.breaks++
      else if (byte === BACKSLASH && isEscapedInText(bytes[this.at + 1])) this.at++
      else if (byte === QUOTE) {
        this.at++
        return 'string'
      }
    }
    throw 'a text is not closed'
  }

  /** A name or the value of a tag. @param {boolean} isKey */
  #name (isKey) {
    const bytes = this.#bytes
    const from = this.at
    const most = Math.min(bytes.length, from + CHARACTER_BYTES * MAX_TAG + 1)
    let hasEscapes = false
    for (; this.at < most; this.at++) {
      const byte = bytes[this.at]
      if (byte === COMMA || byte === SPACE || byte === LINE_END || (isKey && byte === EQUALS)) break
      if (byte !== BACKSLASH || !isEscapedInName(bytes[this.at + 1])) continue
      hasEscapes = true
      this.at++
    }
    const name = nameBetween(bytes, from, this.at, hasEscapes)
    if (name.length > MAX_TAG) throw `the name or tag ${quoted(name)} is over ${MAX_TAG} characters`
    return name
  }

  /** @param {boolean} isField  and ends at a comma, too */
  #word (isField) {
    const bytes = this.#bytes
    const from = this.at
    for (; this.at < bytes.length; this.at++) {
      const byte = bytes[this.at]
      if (byte === SPACE || byte === RETURN || byte === LINE_END || (isField && byte === COMMA)) break
    }
    return bytes.toString('utf8', from, this.at)
  }

  /** @param {number} byte */
  #take (byte) {
    if (this.#bytes[this.at] !== byte) return false
    this.at++
    return true
  }

  /** @param {number} byte @param {string} otherwise */
  #expect (byte, otherwise) {
    if (!this.#take(byte)) throw otherwise
  }
}

/** Of a name or the value of a tag. @param {Buffer} bytes @param {number} from @param {number} to @param {boolean} hasEscapes */
export function nameBetween (bytes, from, to, hasEscapes) {
  const name = bytes.toString('utf8', from, to)
  return hasEscapes ? name.replace(/\\([,= ])/g, '$1') : name
}

/** Whether a backslash before it is none of the name. @param {number} byte */
export function isEscapedInName (byte) {
  return byte === COMMA || byte === SPACE || byte === EQUALS
}

/** @param {number} byte */
export function isEscapedInText (byte) {
  return byte === QUOTE || byte === BACKSLASH
}
