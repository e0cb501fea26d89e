import { parseTime } from '../../../gateway/batch/time.js'
import { describe as messageOf } from '../../../gateway/base/errors.js'
import { MAX_FIELDS, MAX_TAG, MAX_TAGS } from '../../../gateway/messages/bounds.js'
import { Gatherer, nameFault, quoted } from '../../../gateway/messages/gatherer.js'

/**
 * Reads InfluxDB line protocol the plain way: character by character, from a text, into objects. What reads it fast must read the same.
 *
 * @typedef {import('../../../gateway/messages/series.js').Cell} Cell
 * @typedef {{line: number, measurement: string, tags: Record<string, string>, cells: Cell[], time: string}} Point  `line` from 1; `time` is
 *   a whole number, or empty
 * @typedef {{line: number, text: string, reason: string}} BadLine
 */

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/
const INTEGER = /^(-?\d{1,20})i$/
const UNSIGNED = /^(\d{1,20})u$/
const TIME = /^-?\d{1,19}$/
const TRUTH = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map(text => /** @type {const} */ ([text, true])),
  ...['f', 'F', 'false', 'False', 'FALSE'].map(text => /** @type {const} */ ([text, false]))
])

/**
 * The rows of a text, those of each combination of tags as a batch of their own, and why others were refused; null where it does not begin
 * with a point.
 * @param {string} text @param {() => bigint} now
 */
export function readPlainly (text, now) {
  const gatherer = new Gatherer()
  /** @type {{index: number, reason: string}[]} */
  const refused = []
  let index = -1
  for (const point of parseLines(text)) {
    if (++index === 0 && 'reason' in point) return null
    const reason = 'reason' in point ? point.reason : take(gatherer, point, now)
    if (reason) refused.push({ index, reason: `line ${point.line}: ${reason}` })
  }
  return index === -1 ? null : { batches: gatherer.batches(), refused }
}

/** @param {Gatherer} gatherer @param {Point} point @param {() => bigint} now @returns {string|null} why it was refused */
function take (gatherer, { measurement, tags, cells, time }, now) {
  if (new Set(cells.map(({ name }) => name)).size < cells.length) return 'it has a field twice'
  try {
    return gatherer.take(measurement, tags, time === '' ? now() : parseTime(time, 'ns'), cells)
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * The point of each line, or what is wrong with it. Blank lines and comments are skipped.
 * @param {string} text
 * @returns {Generator<Point|BadLine, void, void>}
 */
function * parseLines (text) {
  const reader = new LineReader(text)
  while (!reader.isAtEnd) {
    const point = reader.next()
    if (point) yield point
  }
}

class LineReader {
  #text
  #at = 0
  #line = 1

  /** @param {string} text */
  constructor (text) {
    this.#text = text
  }

  get isAtEnd () { return this.#at >= this.#text.length }

  /** @returns {Point|BadLine|null} */
  next () {
    const line = this.#line
    const start = this.#at
    try {
      return this.#point(line)
    } catch (problem) {
      if (typeof problem !== 'string') throw problem
      return { line, text: this.#skipLine(start), reason: problem }
    }
  }

  /** @param {number} line @returns {Point|null} */
  #point (line) {
    this.#skip(' \t\r')
    if (this.#takeLineEnd()) return null
    if (this.#peek() === '#') {
      this.#skipLine(this.#at)
      return null
    }
    const measurement = this.#name(', ')
    if (measurement === '') throw 'it has no measurement'
    /** @type {Record<string, string>} */
    const tags = {}
    for (let count = 1; this.#take(','); count++) {
      if (count > MAX_TAGS) throw `it has more than ${MAX_TAGS} tags`
      const key = this.#name('=, ')
      this.#expect('=', 'a tag without a value')
      if (Object.hasOwn(tags, key)) throw `the tag ${quoted(key)} occurs twice`
      Object.defineProperty(tags, key, { value: this.#name(', '), enumerable: true }) // it may be called __proto__
    }
    this.#expect(' ', 'no space before the fields')
    this.#skip(' ')
    const cells = []
    do {
      if (cells.push(this.#field()) > MAX_FIELDS) throw `there are more than ${MAX_FIELDS} fields`
    } while (this.#take(','))
    this.#skip(' ')
    const time = this.#word(' \r\n')
    if (time !== '' && !TIME.test(time)) throw `its time ${quoted(time)} is not a whole number`
    this.#skip(' \r')
    if (!this.#takeLineEnd()) throw 'there is more after the time'
    return { line, measurement, tags, cells, time }
  }

  /** @returns {Cell} */
  #field () {
    const name = this.#name('=, ')
    const fault = nameFault(name)
    if (fault) throw `a field ${fault}`
    this.#expect('=', `the field ${quoted(name)} has no value`)
    if (this.#take('"')) return { name, type: 'string', value: this.#string() }
    const word = this.#word(', \r\n')
    if (NUMBER.test(word) && Number.isFinite(Number(word))) return { name, type: 'float64', value: Number(word) }
    const truth = TRUTH.get(word)
    if (truth !== undefined) return { name, type: 'bool', value: truth }
    const whole = INTEGER.exec(word) ?? UNSIGNED.exec(word)
    if (!whole) throw `the field ${quoted(name)} has the value ${quoted(word)}`
    const value = BigInt(whole[1])
    if (BigInt.asIntN(64, value) !== value) throw `the field ${quoted(name)} does not fit a 64-bit integer`
    return { name, type: 'int64', value }
  }

  /** A name or tag value, up to one of `ends`, which a backslash escapes. @param {string} ends */
  #name (ends) {
    let name = ''
    for (;;) {
      const character = this.#peek()
      if (character === '' || character === '\n' || ends.includes(character)) return name
      if (name.length === MAX_TAG) throw `the name or tag ${quoted(name)} is over ${MAX_TAG} characters`
      const next = this.#text[this.#at + 1]
      const isEscape = character === '\\' && (next === ',' || next === ' ' || next === '=')
      name += isEscape ? next : character
      this.#at += isEscape ? 2 : 1
    }
  }

  /** After the opening quote, to beyond the closing one. */
  #string () {
    const start = this.#at
    let isEscaped = false
    for (;;) {
      const character = this.#peek()
      if (character === '') throw 'a text is not closed'
      this.#at++
      if (character === '"') break
      if (character === '\n') this.#line++
      if (character !== '\\' || !'"\\'.includes(this.#peek() || ' ')) continue
      isEscaped = true
      this.#at++
    }
    const value = this.#text.slice(start, this.#at - 1)
    return isEscaped ? unescaped(value) : value
  }

  /** @param {string} ends */
  #word (ends) {
    const start = this.#at
    while (!this.isAtEnd && !ends.includes(this.#peek())) this.#at++
    return this.#text.slice(start, this.#at)
  }

  #peek () { return this.#text[this.#at] ?? '' }

  /** @param {string} character */
  #take (character) {
    if (this.#peek() !== character) return false
    this.#at++
    return true
  }

  /** @param {string} character @param {string} otherwise */
  #expect (character, otherwise) {
    if (!this.#take(character)) throw otherwise
  }

  /** @param {string} characters */
  #skip (characters) {
    while (!this.isAtEnd && characters.includes(this.#peek())) this.#at++
  }

  #takeLineEnd () {
    if (!this.isAtEnd && !this.#take('\n')) return false
    this.#line++
    return true
  }

  /** To the beginning of the next line. @param {number} from @returns {string} what is skipped */
  #skipLine (from) {
    const end = this.#text.indexOf('\n', Math.max(from, this.#at))
    this.#at = end === -1 ? this.#text.length : end + 1
    this.#line++
    return this.#text.slice(from, end === -1 ? undefined : end)
  }
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
