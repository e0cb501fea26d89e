import { POINT_KEYS, TABLE_KEYS } from '../rows.js'
import { JsonReader } from './json-reader.js'

/**
 * What is learned about the rows of JSON: the shape of those of a source or topic.
 *
 * @typedef {import('../../batch/tags.js').TagColumn} TagColumn
 * @typedef {{kind: 'number'|'string'|'boolean', column: number, isNullable: boolean}} Slot  the place of a value; `column` may be one of
 *   those below
 * @typedef {object} Shape
 * @property {Buffer[]} texts  stand before, between and behind the slots
 * @property {Slot[]} slots
 * @property {string[]} names  of the columns
 * @property {number} minBytes
 *
 * @typedef {object} Meaning  of rows
 * @property {(row: Record<string, unknown>) => Read|null} read  must not depend on what the values are; may throw
 * @property {(value: unknown) => bigint} timeOf
 * @property {readonly string[]} tagNames  of those that `read` gives
 * @property {(rows: number) => Record<string, TagColumn>} [moreTags]  of the topic
 * @property {Shape[]} recent  learned last, for sources that are new: a thousand devices mostly send the same
 * @typedef {{values: Record<string, unknown>, time?: unknown, tags?: Record<string, unknown>}} Read  `values` without the time
 */

export const TIME = -1
/** A value that another of the same name replaces, or that nobody wants. */
export const UNUSED = -2
/** And the numbers below are tags. */
export const TAG = -3

const MAX_ROW_BYTES = 2 ** 16
const MAX_SHAPES = 4
const MAX_RECENT = 8
/** How often it is tried to learn a shape from a source: its rows may never be alike. */
const MAX_LESSONS = 16
/** What shapes take, about: a few bytes of each source must not become gigabytes. */
const MAX_KEPT_BYTES = 2 ** 24
const SLOT_BYTES = 128
const [OPEN_ARRAY, OPEN_OBJECT] = Buffer.from('[{')

let keptBytes = 0
/** Counts how often all has been forgotten. */
let age = 0

/** What is known of the rows of a source or topic. */
export class Lessons {
  /** @type {Shape[]} */
  #shapes = []
  #count = 0
  #age = age

  get shapes () {
    this.#refresh()
    return this.#shapes
  }

  /** Whether another may be had. */
  begin () {
    this.#refresh()
    return ++this.#count <= MAX_LESSONS
  }

  /** @param {Shape} shape */
  keep (shape) {
    if (this.#shapes.length < MAX_SHAPES && !this.#shapes.some(other => isSame(shape, other))) this.#shapes.push(shape)
  }

  #refresh () {
    if (this.#age === age) return
    this.#age = age
    this.#shapes = []
    this.#count = 0
  }
}

/**
 * Learns the shape of a message's first row, if `readShaped` can read such rows.
 * @param {Buffer} bytes @param {Lessons} lessons @param {Omit<Meaning, 'timeOf'>} meaning
 * @param {(row: unknown) => boolean} isPlain  whether a message of this row alone, too, would be nothing but a row
 */
export function learn (bytes, lessons, meaning, isPlain) {
  if (!lessons.begin()) return
  const shape = shapeOf(bytes, meaning, isPlain)
  if (!shape) return
  const { recent } = meaning
  const same = recent.find(other => isSame(shape, other))
  lessons.keep(same ?? shape)
  if (same) return
  keptBytes += sizeOf(shape)
  if (keptBytes > MAX_KEPT_BYTES) {
    age++
    keptBytes = sizeOf(shape)
    lessons.shapes // of the new age
    lessons.keep(shape)
  }
  recent.unshift(shape)
  if (recent.length > MAX_RECENT) recent.pop()
}

/** @param {Shape} shape */
function sizeOf ({ minBytes, slots }) {
  return minBytes + SLOT_BYTES * slots.length
}

/** @param {Shape} shape @param {Shape} other */
function isSame ({ texts, slots }, other) {
  return texts.length === other.texts.length && texts.every((text, i) => text.equals(other.texts[i])) &&
    slots.every(({ kind }, i) => kind === other.slots[i].kind)
}

/** Notes where values are; their own place is then the number that stands for them. */
class SlotReader extends JsonReader {
  /** @type {{from: number, to: number, kind: any}[]} */
  places = []

  /** @override */
  scalar () {
    const from = this.at
    const value = super.scalar()
    if (value === null) return null
    return BigInt(this.places.push({ from, to: this.at, kind: kindOf(value) }) - 1)
  }
}

/** @param {Buffer} bytes @param {Omit<Meaning, 'timeOf'>} meaning @param {(row: unknown) => boolean} isPlain @returns {Shape|null} */
function shapeOf (bytes, { read: readRow, tagNames }, isPlain) {
  const reader = new SlotReader(bytes)
  enter(reader)
  const from = reader.at
  if (bytes[from] !== OPEN_OBJECT) return null
  const row = /** @type {Record<string, unknown>} */ (reader.value())
  const { places, at: to } = reader
  if (to - from > MAX_ROW_BYTES || !isPlain(new JsonReader(bytes.subarray(from, to)).value())) return null
  const read = readRow(row)
  if (!read || Object.keys(read.tags ?? {}).some(name => !tagNames.includes(name))) return null

  /** @type {Slot[]} */
  const slots = places.map(({ kind }) => ({ kind, column: UNUSED, isNullable: true }))
  const names = []
  const uses = [read.time, ...tagNames.map(name => read.tags?.[name])]
  for (const [i, place] of uses.entries()) {
    if (place == null) continue
    if (typeof place !== 'bigint' || slots[Number(place)].column !== UNUSED) return null
    slots[Number(place)].column = i === 0 ? TIME : TAG + 1 - i
  }
  for (const [name, place] of Object.entries(read.values)) {
    if (place === null) continue
    if (typeof place !== 'bigint' || slots[Number(place)].column !== UNUSED) return null
    slots[Number(place)].column = names.push(name) - 1
  }
  if (names.length === 0) return null
  // What the row is depends on whether these are there.
  for (const key of [...POINT_KEYS, ...TABLE_KEYS, 'bn']) {
    const place = row[key]
    if (typeof place === 'bigint') slots[Number(place)].isNullable = false
  }
  const ends = [...places.map(place => place.from), to]
  const texts = ends.map((end, i) => Buffer.from(bytes.subarray(i === 0 ? from : places[i - 1].to, end)))
  return { texts, slots, names, minBytes: texts.reduce((sum, { length }) => sum + length, 0) + slots.length }
}

/** Goes to the first row. @param {JsonReader} reader @returns {boolean} whether it is in an array */
export function enter (reader) {
  reader.skipSpace()
  if (reader.bytes[reader.at] !== OPEN_ARRAY) return false
  reader.at++
  reader.skipSpace()
  return true
}

/** @param {unknown} value @returns {any} */
export function kindOf (value) {
  return typeof value === 'bigint' ? 'number' : typeof value
}
