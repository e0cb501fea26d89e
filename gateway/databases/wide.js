import { SluiceError } from '../base/errors.js'
import { caseMarked, checkName, quote } from './names.js'

/**
 * The wide layout: a row per time, a column per field and tag.
 *
 * Column names are the fields' and tags' own, with three exceptions, so that nothing is ever stored in another's column:
 * - a field or tag named like a column the sink or the database keeps for itself (`time`, `source`, …) becomes `time~field` or `time~tag`;
 * - a tag named like a field of the same batch becomes `name~tag`;
 * - where the database ignores case, the second of two names that differ only by case gets a mark (`temp~0`).
 *
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {FieldType|'time'|'time_ns'|'json'} ValueType
 *
 * @typedef {object} WideColumn
 * @property {string} name
 * @property {ValueType} type  of the values
 * @property {'time'|'source'|'tag'|'field'} origin  `time` for the columns made from it
 * @property {number} [field]  index, where the origin is a field
 * @property {string} [tag]  name, where it is a tag
 * @property {boolean} [isKey]  by which the layout upsert finds its rows
 *
 * @typedef {object} TableColumn  a column the table has
 * @property {string} name
 * @property {string} kind  its type, as `accepts` and encoders know it
 * @property {string} [shown]  its type as users know it, where that differs
 * @property {boolean} [required]  must be given a value by each row
 * @property {boolean} [computed]  cannot be given one
 *
 * @typedef {WideColumn & {kind: string}} PlacedColumn
 *
 * @typedef {object} Dialect
 * @property {WideColumn[]} timeColumns
 * @property {readonly string[]} ownNames  folded names that fields and tags cannot have
 * @property {number} maxColumns
 * @property {Record<ValueType, string>} columnTypes  what a new column is declared as
 * @property {Record<ValueType, readonly string[]>} accepts  kinds of existing columns that hold every value of a type exactly
 */

/**
 * One string for all batches of the same source, fields and tag names: they share a plan.
 * @param {Pick<Batch, 'source'|'fields'|'tags'>} batch
 */
export function shapeOf ({ source, fields, tags }) {
  return JSON.stringify([source, Object.keys(tags), fields.map(({ name, type }) => [name, type])])
}

/** The column of a tag whose name another column has. @param {string} tag */
export function tagColumnOf (tag) {
  return `${tag}~tag`
}

/**
 * The columns a batch needs.
 * @param {Batch} batch
 * @param {Dialect & import('./names.js').NameRules} dialect
 * @param {boolean} withSource  the table holds several sources
 * @param {string} [json]  the field that holds JSON texts
 * @returns {WideColumn[]}
 */
export function wideColumns ({ fields, tags }, dialect, withSource, json) {
  const fieldNames = new Set(fields.map(({ name }) => name))
  const own = (/** @type {string} */ name) => dialect.ownNames.includes(dialect.fold(name))
  /** @type {WideColumn[]} */
  const columns = [...dialect.timeColumns]
  if (withSource) columns.push({ name: 'source', type: 'string', origin: 'source' })
  for (const tag of Object.keys(tags)) {
    columns.push({ name: own(tag) || fieldNames.has(tag) ? tagColumnOf(tag) : tag, type: 'string', origin: 'tag', tag })
  }
  fields.forEach(({ name, type }, field) => {
    columns.push({ name: own(name) ? `${name}~field` : name, type: name === json ? 'json' : type, origin: 'field', field })
  })
  for (const { name } of columns) checkName(name, 'column', dialect)
  return columns
}

/**
 * The text that a column has in all rows of a batch; undefined where each has its own value.
 * @param {Pick<WideColumn, 'origin'|'tag'>} column
 * @param {Batch} batch
 */
export function constantOf ({ origin, tag = '' }, { source, tags }) {
  const text = origin === 'source' ? source : origin === 'tag' ? tags[tag] : undefined
  return typeof text === 'string' ? text : undefined
}

/**
 * The values of a column that has one for each row, of a field or a tag. `valid`: null when every row has one.
 * @param {Pick<WideColumn, 'origin'|'tag'|'field'>} column
 * @param {Batch} batch
 * @returns {{type: FieldType, values: import('../batch/batch.js').Column, valid: Uint8Array|null}}
 */
export function valuesOf ({ origin, tag = '', field = 0 }, { fields, columns, validity, tags }) {
  if (origin !== 'tag') return { type: fields[field].type, values: columns[field], valid: validity[field] }
  const { values, valid } = /** @type {import('../batch/tags.js').TagColumn} */ (tags[tag])
  return { type: 'string', values, valid }
}

/**
 * The cells of a column, as a database has them.
 * @template T, None
 * @param {WideColumn} column
 * @param {Batch} batch
 * @param {(value: any) => T} encode  times in nanoseconds, texts, and values as a batch has them
 * @param {None} none  in the place of a value that is missing
 * @returns {(row: number) => T|None}
 */
export function cellsIn (column, batch, encode, none) {
  if (column.origin === 'time') return row => encode(batch.time[row])
  const constant = constantOf(column, batch)
  if (constant !== undefined) {
    const same = encode(constant)
    return () => same
  }
  const { values, valid } = valuesOf(column, batch)
  return row => valid?.[row] === 0 ? none : encode(values[row])
}

/**
 * Finds each wanted column's place in a table.
 * @param {string} table
 * @param {WideColumn[]} wanted
 * @param {TableColumn[]} existing  none of a table that does not exist
 * @param {Dialect & import('./names.js').NameRules} dialect
 * @returns {{columns: PlacedColumn[], missing: WideColumn[], rest: TableColumn[]}} `columns` is complete once nothing is missing; `rest`:
 *   the others that rows may bring
 * @throws {SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export function fitTable (table, wanted, existing, dialect) {
  const byName = new Map(existing.map(column => [column.name, column]))
  const byFold = new Map(existing.map(column => [dialect.fold(column.name), column]))
  /** @type {PlacedColumn[]} */
  const columns = []
  /** @type {WideColumn[]} */
  const missing = []
  const taken = new Set()
  const place = (/** @type {WideColumn} */ { name, origin }) => {
    const fold = dialect.fold(name)
    const other = byFold.get(fold)
    if (other && (origin === 'time' || origin === 'source')) return other.name
    const differsByCase = !byName.has(name) && (other || taken.has(fold))
    return differsByCase ? checkName(caseMarked(name), 'column', dialect) : name
  }
  for (const column of wanted) {
    const name = place(column)
    const fold = dialect.fold(name)
    if (taken.has(fold)) throw misfit(table, `two fields or tags would both be stored in the column ${quote(name)}`, 'Rename one of them.')
    taken.add(fold)
    const found = byName.get(name)
    if (found) {
      checkColumn(table, column, found, dialect)
      columns.push({ ...column, name, kind: found.kind })
    } else {
      missing.push({ ...column, name })
    }
  }
  for (const column of existing) {
    if (column.required && !taken.has(dialect.fold(column.name))) {
      throw misfit(
        table,
        `its column ${quote(column.name)} must have a value, and the batch brings none`,
        'Give the column a default, or allow NULL in it.'
      )
    }
  }
  if (existing.length + missing.length > dialect.maxColumns) {
    throw misfit(table, `it would have ${existing.length + missing.length} columns, and ${dialect.product} allows ${dialect.maxColumns}`,
      'Store the sources in tables of their own, or fewer fields.')
  }
  return { columns, missing, rest: existing.filter(({ name, computed }) => !computed && !taken.has(dialect.fold(name))) }
}

/**
 * @param {string} table
 * @param {string} what
 * @param {string} fix
 */
export function misfit (table, what, fix) {
  return new SluiceError('SLUICE_SINK_TABLE_MISFIT', `Table ${quote(table)} does not fit: ${what}.`, { fix, details: { table } })
}

/**
 * @param {string} table
 * @param {WideColumn} column
 * @param {TableColumn} found
 * @param {Dialect} dialect
 */
function checkColumn (table, { type, origin, tag }, found, dialect) {
  const name = quote(found.name)
  const what = origin === 'tag' ? `the tag "${tag}"` : origin === 'field' ? `a field of type ${type}` : `the ${origin}`
  if (found.computed) {
    throw misfit(table, `its column ${name} is computed by the database and cannot hold ${what}`, 'Rename the field, or drop the column.')
  }
  if (dialect.accepts[type].includes(found.kind)) return
  throw misfit(table, `its column ${name} is of type ${found.shown ?? found.kind}, and ${what} needs ${dialect.columnTypes[type]}`,
    'Change the column\'s type, rename the field, or set another table.')
}
