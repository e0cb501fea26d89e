import { SluiceError } from '../../base/errors.js'
import { Batch } from '../../batch/batch.js'
import { parseTime } from '../../batch/time.js'
import { CellBudget, MAX_CELLS, MAX_NAME, MAX_ROWS, MAX_TAG } from '../bounds.js'
import { contentsOf } from '../contents.js'
import { JsonColumn } from './json-columns.js'
import { Lessons, TAG, TIME, enter, kindOf, learn } from './json-lessons.js'
import { BROKEN, JsonReader, isAt } from './json-reader.js'

/**
 * The fast path for JSON whose rows are alike, as those of a device are: what stands between the values is compared with the row that came
 * before, and the values go straight into columns. It only ever does what the other way would, or leaves the message to that.
 *
 * @typedef {import('../../batch/time.js').TimeUnit} TimeUnit
 * @typedef {import('../../batch/tags.js').TagColumn} TagColumn
 * @typedef {import('./json-lessons.js').Shape} Shape
 * @typedef {import('./json-lessons.js').Meaning} Meaning
 * @typedef {import('./json-lessons.js').Read} Read
 */

const MAX_SOURCES = 4096
const [COMMA, CLOSE_ARRAY, SMALL_N] = Buffer.from(',]n')
const NULL = Buffer.from('null')

/** @type {Map<string, Lessons>} by source */
const known = new Map()
/** @type {Omit<Meaning, 'timeOf'>} */
const plain = { read: readPlain, tagNames: [], recent: [] }

/** What is known of rows that no mapping describes. @param {string} source */
export function lessonsOf (source) {
  let its = known.get(source)
  if (its) return its
  if (known.size === MAX_SOURCES) known.clear() // what they send is soon known again
  known.set(source, its = new Lessons())
  return its
}

/**
 * The batch of a message all of whose rows have one shape that has been learned; null where it must be read the other way.
 * @param {Buffer} bytes @param {{source?: string, timeUnit?: TimeUnit, now: () => bigint}} options
 */
export function readAlike (bytes, { source = '', timeUnit, now }) {
  if (!mayHaveShapes(source)) return null
  return readShaped(bytes, lessonsOf(source), { ...plain, timeOf: value => parseTime(value, timeUnit) }, { source, now })
}

/**
 * Likewise, of rows that mean what a mapping says.
 * @param {Buffer} bytes @param {Lessons} lessons @param {Meaning} meaning @param {{source: string, now: () => bigint}} options
 */
export function readShaped (bytes, lessons, meaning, options) {
  for (const shape of lessons.shapes) {
    const batch = tryRows(bytes, shape, meaning, options)
    if (batch) return batch
  }
  for (const shape of meaning.recent) {
    const batch = tryRows(bytes, shape, meaning, options)
    if (!batch) continue
    lessons.keep(shape)
    return batch
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
  if (mayHaveShapes(source)) learn(bytes, lessonsOf(source), plain, isPlain)
}

/** @param {string} source */
function mayHaveShapes (source) {
  return source !== '' && source.length <= MAX_NAME
}

/** A row as any payload may have it. @param {Record<string, unknown>} row @returns {Read|null} */
function readPlain (row) {
  const contents = contentsOf({ payload: row }, () => 0n, true)
  const read = contents && contents.rows.length === 1 && contents.rows[0] === row ? contents.read(row) : null
  if (!read || read.measurement != null) return null
  const names = Object.keys(read.values).filter(name => name !== read.timeKey)
  return { values: Object.fromEntries(names.map(name => [name, read.values[name]])), time: read.time, tags: read.tags }
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

/** @param {Buffer} bytes @param {Shape} shape @param {Meaning} meaning @param {{source: string, now: () => bigint}} options */
function readRows (bytes, shape, { timeOf, tagNames, moreTags }, { source, now }) {
  const reader = new JsonReader(bytes)
  const isArray = enter(reader)
  const { texts, slots, names, minBytes } = shape
  if (!isAt(bytes, reader.at, texts[0])) return null
  const mostRows = isArray ? Math.min(Math.ceil((bytes.length - reader.at) / (minBytes + 1)), MAX_ROWS) : 1
  if (mostRows * names.length > MAX_CELLS) return null
  const times = new BigInt64Array(mostRows)
  const columns = names.map(() => new JsonColumn(mostRows))
  const tags = tagNames.map(() => new Array(mostRows))
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
        if (kindOf(value) !== kind) return null // of another kind, it may make the row SenML
        if (column === TIME) times[rows] = timeOf(value)
        else if (column <= TAG && !takeTag(tags[TAG - column], rows, value)) return null
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
  const topicTags = moreTags?.(rows) ?? {}
  const ownTags = tagNames.map((name, t) => /** @type {const} */ ([name, tagColumn(tags[t], rows)]))
  const batchTags = ownTags.length === 0 ? topicTags : { ...Object.fromEntries(ownTags), ...topicTags }
  return batchOf(source, rows === mostRows ? times : times.slice(0, rows), names, columns, batchTags)
}

/** @param {string[]} tag @param {number} row @param {unknown} value @returns {boolean} false: it cannot be its value */
function takeTag (tag, row, value) {
  tag[row] = String(value)
  return tag[row].length <= MAX_TAG
}

/** @param {string[]} tag  with holes where it is missing @param {number} rows @returns {TagColumn} */
function tagColumn (tag, rows) {
  let valid = null
  for (let row = 0; row < rows; row++) {
    if (tag[row] !== undefined) continue
    tag[row] = ''
    valid ??= new Uint8Array(rows).fill(1)
    valid[row] = 0
  }
  return { values: tag.length === rows ? tag : tag.slice(0, rows), valid }
}

/**
 * @param {string} source @param {BigInt64Array} time @param {string[]} names @param {JsonColumn[]} columns
 * @param {Record<string, TagColumn>} tags
 */
function batchOf (source, time, names, columns, tags) {
  // A field is where its first value was.
  const order = names.map((_, c) => c).filter(c => columns[c].type).sort((a, b) => columns[a].firstRow - columns[b].firstRow)
  return new Batch({
    source,
    time,
    tags,
    fields: order.map(c => ({ name: names[c], type: /** @type {import('../../batch/batch.js').FieldType} */ (columns[c].type) })),
    columns: order.map(c => columns[c].values(time.length)),
    validity: order.map(c => columns[c].validity(time.length))
  })
}
