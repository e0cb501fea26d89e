import { Batch, COLUMN_TYPES, NOTHING } from '../batch/batch.js'
import { Numbering } from '../batch/numbering.js'
import { SluiceError } from '../base/errors.js'
import { typeFor, VALUES } from './columns.js'

/**
 * Rows of a table as a batch.
 *
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {import('../databases/reader.js').Rows} Rows
 * @typedef {{name: string, type: FieldType, isTag: boolean}} Column  of the batch
 * @typedef {(source: string, rows: Rows['rows'], columns: {name: string, type: FieldType}[]) => Batch} Form  without identity
 */

/**
 * Of a wide table: a row is a row.
 * @param {(name: string, type: FieldType) => boolean} isTag
 * @returns {Form}
 */
export function wideRows (isTag) {
  return (source, rows, columns) => {
    return batchOf(source, inOrder(rows), columns.map(({ name, type }) => ({ name, type, isTag: isTag(name, type) })))
  }
}

/** Of a narrow table: the values of a time with the same tags are one row. @type {Form} */
export function narrowRows (source, rows, columns) {
  const sensor = columns.findIndex(({ name }) => name === 'sensor')
  const values = columns.flatMap(({ name }, i) => Object.hasOwn(VALUES, name) ? { at: i + 1, type: VALUES[name] } : [])
  const tags = columns.flatMap(({ name, type }, i) =>
    i === sensor || Object.hasOwn(VALUES, name) ? [] : { name, type, at: i + 1, isTag: true })
  /** @type {Map<string, Column & {place: number}>} */
  const fields = new Map()
  /** @type {Rows['rows']} */
  const wide = []
  /** Of each time and tags, its last row. @type {Map<string, any[]>} */
  const open = new Map()
  for (const row of inOrder(rows)) {
    const found = values.find(({ at }) => row[at] !== null)
    if (!found) continue
    const name = String(row[sensor + 1])
    const field = fields.get(name) ?? { name, type: found.type, isTag: false, place: fields.size }
    if (field.type !== found.type && ![field.type, found.type].every(isNumber)) throw changed(source, name)
    fields.set(name, field)
    const key = JSON.stringify([String(row[0]), ...tags.map(({ at }) => row[at])])
    let into = open.get(key)
    if (!into || into[1 + tags.length + field.place] !== undefined) {
      into = [row[0], ...tags.map(({ at }) => row[at])]
      open.set(key, into)
      wide.push(/** @type {any} */ (into))
    }
    into[1 + tags.length + field.place] = row[found.at]
  }
  return batchOf(source, wide, [...tags, ...fields.values()])
}

/**
 * Rows of one time come in whatever order; when a window is copied a second time, each has the number that it had the first time.
 * @param {Rows['rows']} rows  in the order of time
 */
function inOrder (rows) {
  const text = (/** @type {any[]} */ row) => JSON.stringify(row, (_key, value) => typeof value === 'bigint' ? `${value}n` : value)
  const isSorted = rows.every(([time], i) => i === 0 || rows[i - 1][0] !== time)
  if (isSorted) return rows
  return [...Map.groupBy(rows, ([time]) => time).values()].flatMap(its => {
    return its.length === 1 ? its : its.map(row => ({ row, key: text(row) })).sort((a, b) => a.key < b.key ? -1 : 1).map(({ row }) => row)
  })
}

/** @param {string} source @param {any[][]} rows @param {Column[]} columns  columns without values are left out */
function batchOf (source, rows, columns) {
  const cells = columns.map((column, i) => ({ ...column, values: rows.map(row => row[i + 1] ?? null) }))
    .filter(({ values }) => values.some(value => value !== null))
  const tags = Object.fromEntries(cells.filter(({ isTag }) => isTag).map(({ name, values }) => [name, tagOf(values)]))
  const fields = cells.filter(({ isTag }) => !isTag).map(({ name, type, values }) => ({ name, type: typeFor(type, values), values }))
  const batch = new Batch({
    source,
    time: BigInt64Array.from(rows, ([time]) => time),
    fields: fields.map(({ name, type }) => ({ name, type })),
    columns: fields.map(({ type, values }) => columnOf(type, values)),
    validity: fields.map(({ values }) => values.includes(null) ? Uint8Array.from(values, value => value === null ? 0 : 1) : null),
    tags
  })
  return new Numbering().numbered(batch)
}

/** @param {unknown[]} values @returns {import('../batch/tags.js').Tag} */
function tagOf (values) {
  if (values.every(value => value === values[0])) return String(values[0])
  const valid = values.includes(null) ? Uint8Array.from(values, value => value === null ? 0 : 1) : null
  return { values: values.map(value => value === null ? '' : String(value)), valid }
}

/** @type {Record<FieldType, (value: any) => any>} */
const CONVERT = {
  float64: Number,
  float32: Number,
  int64: BigInt,
  int32: Number,
  int16: Number,
  uint16: Number,
  bool: value => value === true || Number(value) === 1 ? 1 : 0,
  string: String,
  bytes: value => value
}

/** @param {FieldType} type @param {unknown[]} values @returns {import('../batch/batch.js').Column} */
function columnOf (type, values) {
  const nothing = NOTHING[type] ?? (type === 'int64' ? 0n : 0)
  const cell = (/** @type {unknown} */ value) => value === null ? nothing : CONVERT[type](value)
  return /** @type {any} */ (COLUMN_TYPES[type]).from(values, cell)
}

/** @param {FieldType} type  of a narrow table's values */
function isNumber (type) {
  return type === 'float64' || type === 'int64'
}

/** @param {string} source @param {string} sensor */
function changed (source, sensor) {
  return new SluiceError('SLUICE_COPY_COLUMN', `The values of sensor "${sensor}" of "${source}" change their type within a window.`, {
    fix: 'Copy up to that time, and from it on: --until and --since.'
  })
}
