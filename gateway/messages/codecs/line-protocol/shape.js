import { MAX_NAME } from '../../bounds.js'
import { nameFault, quoted } from '../../gatherer.js'

/**
 * What lines that are alike have in common: all but the values of their tags and fields, and their times.
 *
 * @typedef {import('../../../batch/batch.js').Field} Field
 */

/** What stands at a place in a line. */
export const TAG = 0
export const FLOAT = 1
export const INTEGER = 2
export const BOOLEAN = 3
export const TEXT = 4

/** @type {Record<string, number>} */
const KINDS = { float64: FLOAT, int64: INTEGER, bool: BOOLEAN, string: TEXT }

export class Shape {
  /** Of this message. @type {import('./sheet.js').Sheet|null} */
  sheet = null
  /** The one of the line that came after the last of this shape. @type {Shape|null} */
  next = null
  isKept = false

  /**
   * @param {Buffer} bytes @param {number} from  where the line begins
   * @param {import('./parse.js').Line} line
   */
  constructor (bytes, from, { measurement, tags, fields, to }) {
    const places = [...tags, ...fields]
    this.measurement = measurement
    /** What stands before each value. */
    this.texts = places.map((place, i) => Uint8Array.from(bytes.subarray(i === 0 ? from : places[i - 1].to, place.from)))
    /** Of each value: tags, then fields. */
    this.kinds = places.map(place => 'type' in place ? KINDS[String(place.type)] : TAG)
    /** The names of tags in order, and which value each is. */
    this.tags = tags.map(({ name }, i) => ({ name, place: i })).sort((a, b) => a.name < b.name ? -1 : 1)
    this.fields = Object.freeze(fields.map(({ name, type }) => Object.freeze({ name, type })))
    this.lineBytes = to - from
    this.key = [...this.texts.map(text => Buffer.from(text).toString('latin1')), this.kinds.join('')].join('\n')
    this.hasFieldTwice = new Set(fields.map(({ name }) => name)).size < fields.length
    /** Why none of its lines can be a row. */
    this.fault = this.#fault()
  }

  #fault () {
    if (this.measurement.length > MAX_NAME) return `its source ${quoted(this.measurement)} is over ${MAX_NAME} characters`
    for (const { name } of this.tags) {
      const fault = nameFault(name)
      if (fault) return `its tag ${quoted(name)} ${fault}`
    }
    return null
  }
}
