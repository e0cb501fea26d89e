import { MAX_FIELDS, MAX_NAME, MAX_ROWS, MAX_TAG, MAX_TAGS } from '../bounds.js'
import { nameFault } from '../gatherer.js'
import { putBillions, wholeOf } from './alike/digits.js'
import { KnownShapes } from './alike/known-shapes.js'
import { BOOLEAN, FLOAT, Shape, TAG } from './alike/shape.js'
import { cells } from './alike/sheet.js'
import { Sheets } from './alike/sheets.js'
import { hashed, textOf } from './alike/texts.js'
import { BROKEN, JsonReader, isAt } from './json-reader.js'

/**
 * The fast path for JSON of Telegraf, as it writes it: what stands between the values is compared with metrics that came before, and the
 * values go straight into columns. It only ever does what `decodeTelegraf` would, or leaves the message to that.
 *
 * @typedef {import('./alike/shape.js').Place} Place
 */

const [METRIC, METRICS, NAME, TAGS, TIMESTAMP] = [
  '{"fields":{', '{"metrics":[', '},"name":', ',"tags":{', '},"timestamp":'
].map(text => Buffer.from(text))
const [TRUE, FALSE] = ['true', 'false'].map(word => Buffer.from(word))
const [QUOTE, BACKSLASH, COMMA, COLON, ZERO, NINE, CLOSE_OBJECT, CLOSE_ARRAY] = Buffer.from('"\\,:09}]')

const YEAR_1971_SECONDS = 31_536_000
/** The most digits of a time in each unit (see `unitOf` in telegraf.js), those behind its seconds, and nanoseconds of the last one. */
const UNITS = [
  { digits: 10, decimals: 0, nanoseconds: 1e9 }, { digits: 13, decimals: 3, nanoseconds: 1e6 },
  { digits: 16, decimals: 6, nanoseconds: 1e3 }, { digits: 19, decimals: 9, nanoseconds: 1 }
]

const shapes = new KnownShapes()

/**
 * The batches of a message all of whose metrics are written as Telegraf does; null where it must be read the other way.
 * @param {Buffer} bytes  UTF-8
 */
export function readMetrics (bytes) {
  const isList = isAt(bytes, 0, METRICS)
  if (!isList && !isAt(bytes, 0, METRIC)) return null
  const sheets = new Sheets()
  const reader = new MetricReader(bytes, sheets)
  try {
    return (isList ? reader.takesList() : reader.takes(0, 0)) && reader.isAtEnd ? sheets.batches() : null
  } catch (error) {
    if (error !== BROKEN) throw error
    return null
  } finally {
    sheets.release()
  }
}

class MetricReader {
  #bytes
  #sheets
  #json

  /** @param {Buffer} bytes @param {Sheets} sheets */
  constructor (bytes, sheets) {
    this.#bytes = bytes
    this.#sheets = sheets
    this.#json = new JsonReader(bytes)
  }

  get isAtEnd () {
    this.#json.skipSpace()
    return this.#json.at === this.#bytes.length
  }

  takesList () {
    const json = this.#json
    let from = METRICS.length
    for (let index = 0; index < MAX_ROWS; index++) {
      if (!this.takes(from, index)) return false
      if (this.#bytes[json.at] !== COMMA) return this.#passesByte(CLOSE_ARRAY) && this.#passesByte(CLOSE_OBJECT)
      from = json.at + 1
    }
    return false
  }

  /** The metric that begins there. @param {number} from @param {number} index */
  takes (from, index) {
    const shape = this.#known(from) ?? this.#unknown(from)
    if (!shape?.sheet || this.#sheets.accept(shape.sheet, index)) return false
    shapes.follow(shape)
    return true
  }

  /** @param {number} from @returns {Shape|null} of the metric, which is its sheet's next row */
  #known (from) {
    const { expected } = shapes
    if (expected && this.#fits(from, expected)) return expected
    for (const shape of shapes.likely(this.#hash(from))) if (shape !== expected && this.#fits(from, shape)) return shape
    return null
  }

  /** @param {number} from @returns {Shape|null} */
  #unknown (from) {
    const learned = this.#learn(from)
    if (!learned) return null
    const shape = this.#sheets.same(learned)
    shapes.keep(shape, this.#hash(from))
    return this.#fits(from, shape) ? shape : null
  }

  /** @param {number} from @param {Shape} shape */
  #fits (from, shape) {
    const sheet = this.#sheets.of(shape, this.#bytes.length - from)
    const { texts, kinds } = shape
    this.#json.at = from
    for (let place = 0; place < kinds.length; place++) {
      if (!this.#passes(texts[place]) || !this.#takesValue(kinds[place], sheet, place)) return false
    }
    return this.#passes(texts[kinds.length]) && this.#takesTime(sheet.timeCell) && this.#passesByte(CLOSE_OBJECT)
  }

  /** @param {number} kind @param {import('./alike/sheet.js').Sheet} sheet @param {number} place */
  #takesValue (kind, sheet, place) {
    if (kind === FLOAT) {
      const number = this.#json.number()
      if (typeof number !== 'number') return false
      cells.floats[sheet.cellOf(place)] = number
      return Number.isFinite(number)
    }
    if (kind === BOOLEAN) {
      const isTrue = this.#passes(TRUE)
      cells.floats[sheet.cellOf(place)] = isTrue ? 1 : 0
      return isTrue || this.#passes(FALSE)
    }
    const text = this.#text()
    if (text === null) return false
    sheet.texts[place][sheet.rows] = text
    return kind !== TAG || text.length <= MAX_TAG
  }

  /** @returns {string|null} null where it has something to be looked at */
  #text () {
    const bytes = this.#bytes
    const from = this.#json.at + 1
    if (bytes[from - 1] !== QUOTE) return null
    let at = from
    let hash = 0
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at]) {
      if (!(byte >= 0x20) || byte === BACKSLASH) return null
      hash = hashed(hash, byte)
    }
    this.#json.at = at + 1
    return textOf(bytes, from, at, hash)
  }

  /** @param {number} cell */
  #takesTime (cell) {
    const bytes = this.#bytes
    const from = this.#json.at
    let at = from
    while (bytes[at] >= ZERO && bytes[at] <= NINE) at++
    this.#json.at = at
    const unit = UNITS.find(({ digits }) => at - from <= digits)
    if (!unit || bytes[from] === ZERO) return false
    const middle = at - unit.decimals
    const seconds = wholeOf(bytes, from, middle)
    return seconds >= YEAR_1971_SECONDS &&
      putBillions(cells.halves, cell, seconds, unit.decimals === 0 ? 0 : wholeOf(bytes, middle, at) * unit.nanoseconds, false)
  }

  /** @param {number} from @returns {Shape|null} null where the metric is written otherwise, or has something to be looked at */
  #learn (from) {
    const json = this.#json
    json.at = from
    if (!this.#passes(METRIC)) return null
    const fields = this.#pairs(fieldType, MAX_FIELDS)
    if (!fields || fields.length === 0 || !this.#passes(NAME) || this.#bytes[json.at] !== QUOTE) return null
    const source = json.string()
    if (source === '' || source.length > MAX_NAME || !this.#passes(TAGS)) return null
    const tags = this.#pairs(value => typeof value === 'string' ? undefined : null, MAX_TAGS)
    if (!tags || !this.#passes(TIMESTAMP)) return null
    const time = json.at
    json.number()
    return new Shape(this.#bytes, { source, places: [...fields, ...tags], from, time, to: json.at + 1 })
  }

  /**
   * The members of the object that is open, to before its end.
   * @param {(value: unknown) => Place['type']|null} typeOf  null where it cannot be one @param {number} most
   * @returns {Place[]|null}
   */
  #pairs (typeOf, most) {
    const json = this.#json
    /** @type {Map<string, Place>} */
    const places = new Map()
    while (this.#bytes[json.at] === QUOTE) {
      const name = json.string()
      if (nameFault(name) || places.has(name) || places.size === most || !this.#passesByte(COLON)) return null
      const from = json.at
      const type = typeOf(json.scalar())
      if (type === null) return null
      places.set(name, { name, type, from, to: json.at })
      if (this.#bytes[json.at] !== COMMA) break
      if (this.#bytes[++json.at] !== QUOTE) return null
    }
    return [...places.values()]
  }

  /** Of the name of the first field. @param {number} from */
  #hash (from) {
    const bytes = this.#bytes
    let hash = 0
    for (let at = from + METRIC.length + 1; bytes[at] >= 0x20 && bytes[at] !== QUOTE; at++) hash = hashed(hash, bytes[at])
    return hash
  }

  /** @param {Uint8Array} text */
  #passes (text) {
    if (!isAt(this.#bytes, this.#json.at, text)) return false
    this.#json.at += text.length
    return true
  }

  /** @param {number} byte */
  #passesByte (byte) {
    if (this.#bytes[this.#json.at] !== byte) return false
    this.#json.at++
    return true
  }
}

/** @param {unknown} value @returns {Place['type']|null} */
function fieldType (value) {
  if (typeof value === 'number') return Number.isFinite(value) ? 'float64' : null
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : null
}
