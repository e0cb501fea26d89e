import { SluiceError } from '../base/errors.js'
import { headline } from './headline.js'
import { changedTags, rowsOf, tagsAt } from './tags.js'

/**
 * @typedef {'float64'|'float32'|'int64'|'int32'|'int16'|'uint16'|'bool'|'string'|'bytes'} FieldType
 * @typedef {{name: string, type: FieldType, unit?: string}} Field
 * @typedef {Float64Array|Float32Array|BigInt64Array|Int32Array|Int16Array|Uint16Array|Uint8Array|string[]|Uint8Array[]} Column
 *   `bool` is a Uint8Array of 0 and 1; `string` and `bytes` are plain arrays.
 * @typedef {object} Identity  given by the spool when it accepts the batch
 * @property {string} gateway
 * @property {string} source
 * @property {string} epoch
 * @property {number} seq  counts 0, 1, 2, … within an epoch and is never reused
 * @property {number} [before]  how many rows of the source, over all its epochs, were produced before these
 * @property {number} [rows]  how many were staged under this identity; the batch has fewer once some are dead letters
 * @property {number} [hash]  of the staged bytes, see `hashes.js`
 * @property {{epoch: string, seq: number, hash: number, from?: number}[]} [ancestors]  under which the same rows were staged before, newest
 *   last; `from`: the first of them was that row of it, unless it was its first
 * @property {{identity: Identity|null, row: number}[]} [replayOf]  what each row was when it became a dead letter; never staged
 * @typedef {object} BatchInit
 * @property {string} source
 * @property {BigInt64Array} time  nanoseconds since 1970 UTC
 * @property {Field[]} [fields]
 * @property {Column[]} [columns]  one per field, each as long as `time`
 * @property {(Uint8Array|null)[]} [validity]  per field: null when every value is there, else 1 = there, 0 = missing
 * @property {import('./tags.js').Tags} [tags]
 * @property {Int32Array|null} [ordinals]  per row: how many of its source with the same tags and time came before, see `numbering.js`; null
 *   where none did, or nobody has counted
 * @property {Identity|null} [identity]
 * @property {{whole: Batch, rows: Uint32Array}|null} [origin]  of a selection of rows: the whole batch, and which of its rows these are
 */

/** The array each field type is held in. */
export const COLUMN_TYPES = Object.freeze({
  float64: Float64Array,
  float32: Float32Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int16: Int16Array,
  uint16: Uint16Array,
  bool: Uint8Array,
  string: Array,
  bytes: Array
})

/** What a plain array holds for a missing value. @type {Partial<Record<FieldType, unknown>>} */
export const NOTHING = Object.freeze({ string: '', bytes: new Uint8Array(0) })

/** Fields of a batch: below the databases' limits (PostgreSQL 1600, SQLite 2000). */
export const MAX_FIELDS = 1000
/** Tags of a batch. */
export const MAX_TAGS = 100

/**
 * n rows taken at n times from one source, column by column: all that moves through the gateway.
 *
 * A batch is immutable: a change makes a new batch, and one made from changed rows, or from some of them, has no identity.
 * Its string tag makes Node-RED pass it by reference where it would clone a plain object for each wire.
 */
export class Batch {
  /** Node-RED's debug sidebar shows of a class instance only its name, unless that is `Object`: then what `toJSON` returns. */
  static name = 'Object'

  /** @param {BatchInit} init */
  constructor ({ source, time, fields = [], columns = [], validity, tags = {}, ordinals = null, identity = null, origin = null }) {
    this.source = source
    this.time = time
    this.fields = fields
    this.columns = columns
    this.validity = validity ?? fields.map(() => null)
    this.tags = tags
    this.ordinals = ordinals
    this.identity = identity
    this.origin = origin
    checkShape(this)
    Object.freeze(this)
  }

  get [Symbol.toStringTag] () { return 'SluiceBatch' }

  get rows () { return this.time.length }

  get values () { return this.time.length * this.fields.length }

  /** The same rows under an identity: an accepted batch, as the spool stores it. @param {Identity|null} identity */
  withIdentity (identity) {
    return new Batch({ ...this, identity, origin: null })
  }

  /**
   * Rows `from` (inclusive) to `to` (exclusive), as views where the column allows it. A part is not what was staged: it has no identity.
   * @param {number} from
   * @param {number} to
   */
  slice (from, to) {
    return cut(this, from, to, null)
  }

  /** The rows whose index is in `indices`, in that order, without identity. @param {number[]} indices */
  pick (indices) {
    return choose(this, indices, null)
  }

  /** Which row of the whole batch a row is: the same whatever other rows have been removed. @param {number} row */
  rowNumber (row) {
    return this.origin ? this.origin.rows[row] : row
  }

  /** The value of a field at a row, or undefined where it is missing. @param {number} field @param {number} row */
  value (field, row) {
    const valid = this.validity[field]
    if (valid && !valid[row]) return undefined
    const value = this.columns[field][row]
    return this.fields[field].type === 'bool' ? value === 1 : value
  }

  /** The tags of a row. @param {number} row */
  tagsAt (row) { return tagsAt(this.tags, row) }

  /** One object a row, `time` as BigInt nanoseconds, missing values left out: for function nodes. @returns {Record<string, unknown>[]} */
  toObjects () {
    return Array.from(this.time, (time, row) => {
      const values = this.fields.map(({ name }, f) => [name, this.value(f, row)]).filter(([, value]) => value !== undefined)
      return Object.fromEntries([['time', time], ...values])
    })
  }

  /** For the debug sidebar, which shows the names of properties in full, but not their values: a line, and behind it the first rows. */
  toJSON () {
    const { source, rows, tags, identity, fields } = this
    const first = this.slice(0, Math.min(rows, 5)).toObjects()
    const shown = changedTags(tags, column => rowsOf(column, [...first.keys()]))
    return { [headline(this)]: { source, rows, fields, tags: shown, identity, first: JSON.parse(JSON.stringify(first, printable)) } }
  }
}

/**
 * Like `slice`, under the batch's identity: for the writer, which stores all of a batch's good rows under one commit record.
 * @param {Batch} batch
 * @param {number} from
 * @param {number} to
 */
export function sliceOf (batch, from, to) {
  return cut(batch, from, to, batch.identity)
}

/** Like `pick`, under the batch's identity: for the writer. @param {Batch} batch @param {number[]} indices */
export function pickOf (batch, indices) {
  return choose(batch, indices, batch.identity)
}

/**
 * A batch of no rows under an identity: stored, it leaves a commit record and nothing else.
 * @param {Identity} identity
 */
export function marker (identity) {
  return new Batch({ source: identity.source, time: new BigInt64Array(0), identity })
}

/** Whether it is that, and not what is left of a batch all of whose rows are dead letters. @param {Batch} batch */
export function isMarker ({ rows, identity, origin }) {
  return rows === 0 && identity !== null && origin === null
}

/** One string for an identity, for maps and logs. @param {Identity} identity */
export function identityKey ({ gateway, source, epoch, seq }) {
  return `${gateway}/${source}/${epoch}/${seq}`
}

/** @param {Batch} batch */
function checkShape (batch) {
  const fault = faultOf(batch)
  if (fault) throw new SluiceError('SLUICE_BATCH_SHAPE', `Batch of source "${batch.source}": ${fault}.`)
}

/** Of each batch, and most have one row. @param {Batch} batch @returns {string|null} */
function faultOf ({ source, time, fields, columns, validity, tags, ordinals }) {
  if (typeof source !== 'string' || source === '') return 'it needs a source name'
  if (!(time instanceof BigInt64Array)) return 'time must be a BigInt64Array of nanoseconds'
  if (columns.length !== fields.length || validity.length !== fields.length) {
    return `${fields.length} fields, ${columns.length} columns and ${validity.length} validity columns must be equal in number`
  }
  const { length } = time
  for (let f = 0; f < fields.length; f++) {
    const { name, type } = fields[f]
    const expected = COLUMN_TYPES[type]
    if (!expected) return `field "${name}" has unknown type "${type}"`
    if (!(columns[f] instanceof expected)) return `field "${name}" of type ${type} must be held in a ${expected.name}`
    if (columns[f].length !== length) return `field "${name}" has ${columns[f].length} values for ${length} times`
    const valid = validity[f]
    if (valid && valid.length !== length) return `field "${name}" has ${valid.length} validity marks for ${length} times`
  }
  if (ordinals && ordinals.length !== length) return `it has ${ordinals.length} ordinals for ${length} times`
  for (const name in tags) {
    const tag = tags[name]
    const isWhole = typeof tag === 'string' || (tag.values.length === length && (tag.valid ?? tag.values).length === length)
    if (!isWhole) return `tag "${name}" has not one value for each of ${length} times`
  }
  return null
}

/** @param {Batch} batch @param {number} from @param {number} to @param {Identity|null} identity */
function cut (batch, from, to, identity) {
  return new Batch({
    ...batch,
    identity,
    origin: originOf(batch, () => numbersFrom(from, to)),
    time: batch.time.subarray(from, to),
    tags: changedTags(batch.tags, ({ values, valid }) => ({ values: values.slice(from, to), valid: valid && valid.subarray(from, to) })),
    ordinals: batch.ordinals && batch.ordinals.subarray(from, to),
    columns: batch.columns.map(column => {
      return Array.isArray(column) ? /** @type {Column} */ (column.slice(from, to)) : column.subarray(from, to)
    }),
    validity: batch.validity.map(valid => valid && valid.subarray(from, to))
  })
}

/** @param {Batch} batch @param {number[]} indices @param {Identity|null} identity */
function choose (batch, indices, identity) {
  const rows = Uint32Array.from(indices)
  return new Batch({
    ...batch,
    identity,
    origin: originOf(batch, () => rows),
    time: BigInt64Array.from(indices, i => batch.time[i]),
    tags: changedTags(batch.tags, column => rowsOf(column, indices)),
    ordinals: batch.ordinals && Int32Array.from(indices, i => /** @type {Int32Array} */ (batch.ordinals)[i]),
    columns: batch.columns.map((column, f) => {
      const chosen = new (/** @type {any} */ (COLUMN_TYPES[batch.fields[f].type]))(indices.length)
      indices.forEach((from, to) => { chosen[to] = column[from] })
      return chosen
    }),
    validity: batch.validity.map(valid => valid && Uint8Array.from(indices, i => valid[i]))
  })
}

/**
 * Few ask which rows they were.
 * @param {Batch} batch
 * @param {() => Uint32Array} rowsOfIt
 * @returns {{whole: Batch, rows: Uint32Array}}
 */
function originOf (batch, rowsOfIt) {
  /** @type {Uint32Array|undefined} */
  let rows
  return {
    whole: batch.origin?.whole ?? batch,
    get rows () { return rows ??= batch.origin ? rowsOfIt().map(row => batch.rowNumber(row)) : rowsOfIt() }
  }
}

/** @param {number} from @param {number} to */
function numbersFrom (from, to) {
  const numbers = new Uint32Array(Math.max(0, to - from))
  for (let i = 0; i < numbers.length; i++) numbers[i] = from + i
  return numbers
}

/** @param {string} _key @param {unknown} value */
function printable (_key, value) {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return value
}
