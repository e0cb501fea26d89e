import { SluiceError } from '../../base/errors.js'
import { Batch } from '../../batch/batch.js'
import { parseTime } from '../../batch/time.js'
import { CellBudget, MAX_CELLS, MAX_NAME, MAX_ROWS } from '../bounds.js'
import { contentsOf } from '../contents.js'
import { POINT_KEYS, TABLE_KEYS } from '../rows.js'
import { JsonColumn } from './json-columns.js'
import { BROKEN, JsonReader, isAt } from './json-reader.js'

/**
 * The fast path for JSON whose rows are alike, as those of a device are: what stands between the values is compared with the row that came
 * before, and the values go straight into columns. It only ever does what the other way would, or leaves the message to that.
 *
 * @typedef {import('../../batch/time.js').TimeUnit} TimeUnit
 * @typedef {{kind: 'number'|'string'|'boolean', column: number, isNullable: boolean}} Slot  the place of a value; `column` may be one of
 *   those below
 * @typedef {{texts: Buffer[], slots: Slot[], names: string[], minBytes: number}} Shape  `texts` stand before, between and behind the slots
 */

const TIME = -1
/** A value that another of the same name replaces. */
const UNUSED = -2

const MAX_ROW_BYTES = 2 ** 16
const MAX_SHAPES = 4
const MAX_SOURCES = 4096
const MAX_RECENT = 8
/** How often it is tried to learn a shape from a source: its rows may never be alike. */
const MAX_LESSONS = 16
/** What shapes take, about: a few bytes of each source must not become gigabytes. */
const MAX_KEPT_BYTES = 2 ** 24
const SLOT_BYTES = 128
const [COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, SMALL_N] = Buffer.from(',[]{n')
const NULL = Buffer.from('null')

/** The shapes of the rows that a source has sent. @type {Map<string, {shapes: Shape[], lessons: number}>} */
const known = new Map()
/** Those learned last, for sources that are new: a thousand devices mostly send the same. @type {Shape[]} */
const recent = []
let keptBytes = 0

/**
 * The batch of a message all of whose rows have one shape that has been learned; null where it must be read the other way.
 * @param {Buffer} bytes @param {{source?: string, timeUnit?: TimeUnit, now: () => bigint}} options
 */
export function readAlike (bytes, { source = '', timeUnit, now }) {
  if (!mayHaveShapes(source)) return null
  const own = known.get(source)?.shapes
  for (const shapes of own ? [own, recent] : [recent]) {
    for (const shape of shapes) {
      const batch = tryRows(bytes, shape, { source, timeUnit, now })
      if (!batch) continue
      if (shapes === recent) keep(source, shape)
      return batch
    }
  }
  return null
}

/**
 * Learns the shape of a message's first row, if `readAlike` can read such rows.
 * @param {Buffer} bytes  that were accepted as plain rows
 * @param {string} source
 * @param {(row: unknown) => boolean} isPlain  whether a message of this row alone, too, would be nothing but a row
 */
export function learnShape (bytes, source, isPlain) {
  if (!mayHaveShapes(source) || ++knownOf(source).lessons > MAX_LESSONS) return
  const shape = shapeOf(bytes, isPlain)
  if (!shape) return
  keptBytes += sizeOf(shape)
  if (keptBytes > MAX_KEPT_BYTES) forgetSources()
  keep(source, shape)
  if (recent.some(other => isSame(shape, other))) return
  recent.unshift(shape)
  if (recent.length > MAX_RECENT) recent.pop()
}

/** @param {string} source */
function mayHaveShapes (source) {
  return source !== '' && source.length <= MAX_NAME
}

/** @param {string} source @param {Shape} shape */
function keep (source, shape) {
  const { shapes } = knownOf(source)
  if (shapes.length < MAX_SHAPES && !shapes.some(other => isSame(shape, other))) shapes.push(shape)
}

/** @param {string} source */
function knownOf (source) {
  let its = known.get(source)
  if (its) return its
  if (known.size === MAX_SOURCES) forgetSources()
  known.set(source, its = { shapes: [], lessons: 0 })
  return its
}

/** What they send is soon known again. */
function forgetSources () {
  known.clear()
  keptBytes = recent.reduce((sum, shape) => sum + sizeOf(shape), 0)
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

/** @param {Buffer} bytes @param {(row: unknown) => boolean} isPlain @returns {Shape|null} */
function shapeOf (bytes, isPlain) {
  const reader = new SlotReader(bytes)
  enter(reader)
  const from = reader.at
  if (bytes[from] !== OPEN_OBJECT) return null
  const row = /** @type {Record<string, unknown>} */ (reader.value())
  const { places, at: to } = reader
  if (to - from > MAX_ROW_BYTES || !isPlain(new JsonReader(bytes.subarray(from, to)).value())) return null
  const contents = contentsOf({ payload: row }, () => 0n, true)
  const read = contents && contents.rows.length === 1 && contents.rows[0] === row ? contents.read(row) : null
  if (!read || read.measurement != null || Object.keys(read.tags ?? {}).length > 0) return null

  /** @type {Slot[]} */
  const slots = places.map(({ kind }) => ({ kind, column: UNUSED, isNullable: true }))
  if (read.time !== undefined) slots[Number(read.time)].column = TIME
  const names = []
  for (const [name, place] of Object.entries(read.values)) {
    if (name === read.timeKey || place === null) continue
    if (typeof place !== 'bigint') return null
    slots[Number(place)].column = names.push(name) - 1
  }
  if (names.length === 0) return null
  // What the row is depends on whether these are there.
  for (const key of [...POINT_KEYS, ...TABLE_KEYS]) {
    const place = row[key]
    if (typeof place === 'bigint') slots[Number(place)].isNullable = false
  }
  const ends = [...places.map(place => place.from), to]
  const texts = ends.map((end, i) => Buffer.from(bytes.subarray(i === 0 ? from : places[i - 1].to, end)))
  return { texts, slots, names, minBytes: texts.reduce((sum, { length }) => sum + length, 0) + slots.length }
}

/** Goes to the first row. @param {JsonReader} reader @returns {boolean} whether it is in an array */
function enter (reader) {
  reader.skipSpace()
  if (reader.bytes[reader.at] !== OPEN_ARRAY) return false
  reader.at++
  reader.skipSpace()
  return true
}

/** @param {Parameters<typeof readRows>} message @returns {Batch|null} null where not all is as it should be */
function tryRows (...message) {
  try {
    return readRows(...message)
  } catch (error) {
    if (error !== BROKEN && !(error instanceof SluiceError)) throw error
    return null
  }
}

/** @param {Buffer} bytes @param {Shape} shape @param {{source: string, timeUnit?: TimeUnit, now: () => bigint}} options */
function readRows (bytes, shape, { source, timeUnit, now }) {
  const reader = new JsonReader(bytes)
  const isArray = enter(reader)
  const { texts, slots, names, minBytes } = shape
  if (!isAt(bytes, reader.at, texts[0])) return null
  const mostRows = isArray ? Math.min(Math.ceil((bytes.length - reader.at) / (minBytes + 1)), MAX_ROWS) : 1
  if (mostRows * names.length > MAX_CELLS) return null
  const times = new BigInt64Array(mostRows)
  const columns = names.map(() => new JsonColumn(mostRows))
  const hasTime = slots.some(({ column }) => column === TIME)
  let rows = 0
  let values = 0
  for (;;) {
    if (rows === mostRows) return null
    let present = 0
    for (let i = 0; i < slots.length; i++) {
      if (!isAt(bytes, reader.at, texts[i])) return null
      reader.at += texts[i].length
      const { kind, column, isNullable } = slots[i]
      if (bytes[reader.at] === SMALL_N) {
        if (column === TIME || !isNullable || !isAt(bytes, reader.at, NULL)) return null
        reader.at += NULL.length
        if (column >= 0) columns[column].skip(rows)
      } else if (column >= 0) {
        if (!columns[column].read(reader, kind, rows)) return null
        present++
      } else {
        const value = reader.scalar()
        if (column === TIME) times[rows] = parseTime(value, timeUnit)
      }
    }
    const last = texts[slots.length]
    if (present === 0 || !isAt(bytes, reader.at, last)) return null
    reader.at += last.length
    values += present
    rows++
    if (!isArray) break
    reader.skipSpace()
    const byte = bytes[reader.at++]
    if (byte === CLOSE_ARRAY) break
    if (byte !== COMMA) return null
    reader.skipSpace()
  }
  reader.skipSpace()
  if (reader.at < bytes.length || new CellBudget().take(values, rows * names.length)) return null
  if (!hasTime) times.fill(now())
  return batchOf(source, rows === mostRows ? times : times.slice(0, rows), names, columns)
}

/** @param {string} source @param {BigInt64Array} time @param {string[]} names @param {JsonColumn[]} columns */
function batchOf (source, time, names, columns) {
  // A field is where its first value was.
  const order = names.map((_, c) => c).filter(c => columns[c].type).sort((a, b) => columns[a].firstRow - columns[b].firstRow)
  return new Batch({
    source,
    time,
    fields: order.map(c => ({ name: names[c], type: /** @type {import('../../batch/batch.js').FieldType} */ (columns[c].type) })),
    columns: order.map(c => columns[c].values(time.length)),
    validity: order.map(c => columns[c].validity(time.length))
  })
}

/** @param {unknown} value @returns {any} */
function kindOf (value) {
  return typeof value === 'bigint' ? 'number' : typeof value
}
