import { Batch } from './batch.js'
import { byTags } from './groups.js'
import { joined } from './join.js'
import { changedTags, joinedTag, rowsOf } from './tags.js'

/**
 * The layouts other than wide, each as another batch: whatever stores a wide batch stores these as well.
 *
 * @typedef {import('./batch.js').FieldType} FieldType
 * @typedef {'wide'|'narrow'|'document'} Layout
 */

export const LAYOUTS = /** @type {const} */ (['wide', 'narrow', 'document'])

/** The column of a document's JSON text. */
export const MEASUREMENTS = 'measurements'

/** The options of a sink that can hold all three. */
export const layoutProperties = {
  layout: {
    type: 'string',
    title: 'Layout',
    description: 'wide: a row per time, a column per field. narrow: a row per value, with columns sensor (the field\'s name) and value; ' +
      'what a float64 does not hold exactly goes to value_int64, value_string or value_bytes. document: a row per interval, with ' +
      'columns size and measurements, a JSON document of all its samples.',
    enum: LAYOUTS,
    default: 'wide'
  },
  intervalMs: {
    type: 'integer',
    title: 'Interval',
    description: 'The time that one document covers. What comes straight from a flow waits for the end of its interval, if that is no ' +
      'longer than a minute; what is staged waits in stage out, if Whole intervals says so there. A batch that does not end with an ' +
      'interval begins a second document of it.',
    minimum: 1,
    maximum: 86_400_000,
    default: 1000,
    'x-unit': 'ms',
    'x-when': { layout: 'document' }
  }
}

/** The layout of a sink that holds no documents. */
export const withoutDocuments = {
  ...layoutProperties.layout,
  description: 'wide: a row per time, a column per field. narrow: a row per value, with columns sensor (the field\'s name) and ' +
    'value; what a double does not hold exactly goes to value_int64, value_string or value_bytes.',
  enum: /** @type {const} */ (['wide', 'narrow']),
  'x-labels': { wide: 'wide: a row per time', narrow: 'narrow: a row per value' }
}

const NS_PER_MS = 1_000_000n

/** The longest interval whose rows wait for each other. */
const MAX_WAITING_MS = 60_000

/**
 * The interval of the documents that a sink makes; undefined where it makes none, or where an interval is too long to wait for its end.
 * @param {{layout?: string, intervalMs?: number}} options  of the sink
 */
export function documentMs ({ layout, intervalMs = 1000 }) {
  if (layout === 'paper-bulk') return 1000
  return layout === 'document' && intervalMs <= MAX_WAITING_MS ? intervalMs : undefined
}

/**
 * Turns a batch into the rows that a layout stores. A batch already arranged must not be arranged again.
 * @param {{layout: Layout, intervalMs: number}} options
 * @returns {(batch: Batch) => Batch}
 */
export function arrangement ({ layout, intervalMs }) {
  switch (layout) {
    case 'wide': return batch => batch
    case 'narrow': return narrow
    case 'document': return batch => documents(batch, BigInt(intervalMs) * NS_PER_MS)
  }
}

/** Where a narrow row holds values of a type: what a float64 holds exactly shares a column. @type {Record<FieldType, string>} */
const NARROW_COLUMNS = {
  float64: 'value', float32: 'value', int32: 'value', int16: 'value', uint16: 'value', bool: 'value', int64: 'value_int64',
  string: 'value_string', bytes: 'value_bytes'
}

/**
 * A row per value: time, `sensor` (the field's name) and the value in `value` (float64), `value_int64`, `value_string` or `value_bytes`. By
 * time and field; missing values have no row. A row's number is that of the row it comes from.
 * @param {Batch} batch
 */
export function narrow (batch) {
  const { time, fields, columns, validity } = batch
  const rows = validity.reduce((sum, valid) => sum + (valid ? count(valid) : time.length), 0)
  const targets = [...new Set(fields.map(({ type }) => NARROW_COLUMNS[type]))].map(name => {
    const type = narrowType(name)
    return { name, type, values: emptyColumn(type, rows) }
  })
  const several = targets.length > 1
  const valid = new Map(targets.map(({ name }) => [name, several ? new Uint8Array(rows) : null]))
  const times = new BigInt64Array(rows)
  const sensors = new Array(rows)
  const rowOf = new Uint32Array(rows)
  const cells = fields.map(({ name, type }, f) => {
    const target = NARROW_COLUMNS[type]
    return {
      name,
      column: columns[f],
      valid: validity[f],
      values: /** @type {any} */ (targets.find(each => each.name === target)).values,
      marks: valid.get(target)
    }
  })
  let at = 0
  for (let row = 0; row < time.length; row++) {
    for (const cell of cells) {
      if (cell.valid && cell.valid[row] === 0) continue
      times[at] = time[row]
      sensors[at] = cell.name
      rowOf[at] = row
      cell.values[at] = cell.column[row]
      if (cell.marks) cell.marks[at] = 1
      at++
    }
  }
  return new Batch({
    source: batch.source,
    tags: changedTags(batch.tags, column => rowsOf(column, rowOf)),
    identity: batch.identity,
    time: times,
    fields: [{ name: 'sensor', type: 'string' }, ...targets.map(({ name, type }) => ({ name, type }))],
    columns: [sensors, ...targets.map(({ values }) => values)],
    validity: [null, ...targets.map(({ name }) => valid.get(name) ?? null)],
    origin: { whole: batch.origin?.whole ?? batch, rows: rowOf.map(row => batch.rowNumber(row)) }
  })
}

/**
 * A row per interval: its start, `size` (how many rows it holds) and `measurements`, a JSON text:
 * `{"fields": ["m0", …], "measurements": [{"ns": 0, "m": [1, …]}, …]}`
 * with `ns` counted from the interval's start. Missing values and NaN are null, infinities "Infinity" and "-Infinity", bytes base64. Rows
 * with different tags are never in one document. A document's number is that of its first row.
 * @param {Batch} batch
 * @param {bigint} intervalNs
 * @param {number} [maxLength]  of the samples of a document, in characters: what has more becomes several
 */
export function documents (batch, intervalNs, maxLength = Infinity) {
  const parts = byTags(batch).map(part => documentsOf(part, intervalNs, maxLength))
  const joint = joined(parts)
  const tags = Object.keys(batch.tags).map(name => [name, joint.tags[name] ?? joinedTag([{ rows: joint.rows, tag: undefined }])])
  const rows = Uint32Array.from(parts.flatMap(part => Array.from(part.time.keys(), row => part.rowNumber(row))))
  return new Batch({
    ...joint, tags: Object.fromEntries(tags), identity: batch.identity, origin: { whole: batch.origin?.whole ?? batch, rows }
  })
}

/** @param {Batch} batch  with the same tags in all rows @param {bigint} intervalNs @param {number} maxLength */
function documentsOf (batch, intervalNs, maxLength) {
  /** @typedef {{start: bigint, first: number, length: number, samples: string[]}} Document */
  /** @type {Map<bigint, Document>} that may have more samples, by the start of the interval */
  const open = new Map()
  /** @type {Document[]} */
  const all = []
  const cells = batch.columns.map((column, f) => jsonCell(batch.fields[f].type, column, batch.validity[f]))
  batch.time.forEach((time, row) => {
    const start = floor(time, intervalNs)
    const sample = `{"ns":${time - start},"m":[${cells.map(cell => cell(row)).join(',')}]}`
    let document = open.get(start)
    if (!document || document.length + sample.length > maxLength) {
      document = { start, first: row, length: 0, samples: [] }
      open.set(start, document)
      all.push(document)
    }
    document.samples.push(sample)
    document.length += sample.length
  })
  const head = `{"fields":${JSON.stringify(batch.fields.map(({ name }) => name))},"measurements":[`
  return new Batch({
    source: batch.source,
    tags: batch.tags,
    identity: batch.identity,
    time: BigInt64Array.from(all, ({ start }) => start),
    fields: [{ name: 'size', type: 'int32' }, { name: MEASUREMENTS, type: 'string' }],
    columns: [Int32Array.from(all, ({ samples }) => samples.length), all.map(({ samples }) => `${head}${samples.join(',')}]}`)],
    origin: { whole: batch.origin?.whole ?? batch, rows: Uint32Array.from(all, ({ first }) => batch.rowNumber(first)) }
  })
}

/** The last multiple of `step` that is not after `time`. @param {bigint} time @param {bigint} step */
export function floor (time, step) {
  const rest = time % step
  return time - (rest < 0n ? rest + step : rest)
}

/** @param {string} name @returns {FieldType} */
function narrowType (name) {
  return name === 'value' ? 'float64' : /** @type {FieldType} */ (name.slice('value_'.length))
}

/** @param {FieldType} type @param {number} rows @returns {any} */
function emptyColumn (type, rows) {
  if (type === 'float64') return new Float64Array(rows)
  if (type === 'int64') return new BigInt64Array(rows)
  return new Array(rows).fill(type === 'string' ? '' : new Uint8Array(0))
}

/** @param {Uint8Array} valid */
function count (valid) {
  let there = 0
  for (const mark of valid) there += mark
  return there
}

/** @param {FieldType} type @param {any} column @param {Uint8Array|null} valid @returns {(row: number) => string} */
function jsonCell (type, column, valid) {
  const text = jsonValue(type)
  return row => valid && valid[row] === 0 ? 'null' : text(column[row])
}

/** @param {FieldType} type @returns {(value: any) => string} */
function jsonValue (type) {
  switch (type) {
    case 'string': return JSON.stringify
    case 'bytes': return value => `"${Buffer.from(value).toString('base64')}"`
    case 'bool': return value => value === 1 ? 'true' : 'false'
    case 'float64':
    case 'float32': return value => Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'null' : `"${value}"`
    default: return String
  }
}
