/**
 * What rows that are written alike have in common: all but their values.
 *
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {{from: number, to: number, name: string, type?: FieldType}} Place  of a value in the bytes; of a tag where it has no type
 */

/** What stands at a place. */
export const TAG = 0
export const FLOAT = 1
export const INTEGER = 2
export const BOOLEAN = 3
export const TEXT = 4

/** @type {Record<string, number>} */
const KINDS = { float64: FLOAT, int64: INTEGER, bool: BOOLEAN, string: TEXT }

export class Shape {
  /** Of the message that is read. @type {import('./sheet.js').Sheet|null} */
  sheet = null
  /** Of messages of one row. @type {import('./sheet.js').Sheet|null} */
  line = null
  /** The one of the row that came after the last of this shape. @type {Shape|null} */
  next = null
  isKept = false
  /** Why none of its rows can be accepted. @type {string|null} */
  fault = null

  /**
   * @param {Uint8Array} bytes
   * @param {{source: string, places: Place[], from: number, time: number, to: number}} row  `places` in their order, fields in one piece;
   *   from where to where it is, and where its time begins, or what else stands behind the values
   */
  constructor (bytes, { source, places, from, time, to }) {
    const ends = [...places.map(place => place.from), time]
    this.source = source
    /** What stands before each value and the time. */
    this.texts = ends.map((end, i) => Uint8Array.from(bytes.subarray(i === 0 ? from : places[i - 1].to, end)))
    this.kinds = places.map(({ type }) => type ? KINDS[type] : TAG)
    /** In order of their names. */
    this.tags = places.flatMap(({ name, type }, place) => type ? [] : [{ name, place }]).sort((a, b) => a.name < b.name ? -1 : 1)
    this.fields = Object.freeze(places.flatMap(({ name, type }) => type ? [Object.freeze({ name, type })] : []))
    /** The place of the first field. */
    this.firstField = places.findIndex(({ type }) => type)
    this.rowBytes = to - from
    this.key = [...this.texts.map(text => Buffer.from(text).toString('latin1')), this.kinds.join('')].join('\n')
  }
}
