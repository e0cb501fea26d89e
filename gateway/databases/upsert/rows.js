import { createHash } from 'node:crypto'
import { Batch, pickOf } from '../../batch/batch.js'
import { counterOf } from '../../batch/epochs.js'
import { RefusedRows } from '../refusal.js'
import { ORIGIN, UPSERT, UPSERT_COLUMNS } from './layout.js'

/**
 * The rows of the layout upsert.
 *
 * @typedef {import('../../batch/batch.js').FieldType} FieldType
 * @typedef {{layout?: string, key?: string[]}} Options  of a sink
 * @typedef {{origin: bigint, epoch: number, seq: number}} Version  `epoch` is 0 of a batch without identity, which applies as it comes
 */

/** What tells keys apart exactly in every database. @type {readonly FieldType[]} */
const KEY_TYPES = ['string', 'int64', 'int32', 'int16', 'uint16']

/** In the order in which they came, of batches without identity: each keeps its place for all attempts. @type {WeakMap<Batch, number>} */
const arrivals = new WeakMap()
let arrived = 0

/** @param {Batch} batch @returns {Version} */
export function versionOf (batch) {
  const { identity, source, origin } = batch
  const { gateway = '', epoch = '0', seq = arrivalOf(origin?.whole ?? batch) } = identity ?? {}
  const digest = createHash('sha256').update(JSON.stringify([gateway, source])).digest()
  return { origin: digest.readBigInt64BE(), epoch: counterOf(epoch), seq }
}

/**
 * Arranges a batch: of each key its last row, in the order of the keys, so that writers side by side lock rows in one order; with the
 * version in fields of their own.
 * @param {readonly string[]} key
 * @returns {(batch: Batch) => Batch}
 */
export function newestByKey (key) {
  return batch => {
    const { origin, epoch, seq } = versionOf(batch)
    const newest = newestOf(batch, key)
    const same = (/** @type {bigint} */ value) => new BigInt64Array(newest.rows).fill(value)
    return new Batch({
      ...newest,
      origin: null,
      fields: [...newest.fields, ...UPSERT_COLUMNS.map(name => ({ name, type: /** @type {const} */ ('int64') }))],
      columns: [...newest.columns, same(origin), same(BigInt(epoch)), same(BigInt(seq))],
      validity: [...newest.validity, null, null, null]
    })
  }
}

/** Of each key the last row, in the order of the keys. @param {Batch} batch @param {readonly string[]} key */
export function newestOf (batch, key) {
  const cells = key.map(name => cellsOf(batch, name))
  const textOf = cells.length === 1
    ? (/** @type {number} */ row) => String(cells[0](row))
    : (/** @type {number} */ row) => JSON.stringify(cells.map(cell => String(cell(row))))
  /** @type {Map<string, number>} */
  const newest = new Map()
  for (let row = 0; row < batch.rows; row++) newest.set(textOf(row), row)
  return pickOf(batch, [...newest].sort(([a], [b]) => a < b ? -1 : 1).map(([, row]) => row))
}

/**
 * Rows without a key are refused, whatever the database.
 * @param {Batch[]} batches
 * @param {Options} options
 * @throws {RefusedRows}
 */
export function refuseKeyless (batches, { layout, key = [] }) {
  if (layout !== UPSERT) return
  const faults = batches.flatMap(batch => key.flatMap(name => {
    const { type } = batch.fields.find(field => field.name === name) ?? { type: 'string' }
    const isKey = KEY_TYPES.includes(type)
    const cell = cellsOf(batch, name)
    const rows = Array.from(batch.time.keys()).filter(row => !isKey || cell(row) === undefined)
    const problem = isKey ? 'is missing' : `is of type ${type}, and must be a text or a whole number`
    return rows.map(row => ({ batch, row, error: new Error(`The key "${name}" ${problem}`) }))
  }))
  const first = Map.groupBy(faults, ({ batch }) => batch)
  const once = Array.from(first.values(), its => [...new Map(its.map(fault => [fault.row, fault])).values()]).flat()
  if (once.length > 0) throw new RefusedRows(once)
}

/**
 * The columns of a table with those marked by which an upsert finds its row.
 * @template {import('../wide.js').WideColumn} Column
 * @param {Column[]} columns
 * @param {Batch} arranged
 * @param {Options} options
 * @returns {Column[]}
 */
export function withKey (columns, { fields }, { layout, key = [] }) {
  if (layout !== UPSERT) return columns
  const names = [...key, ORIGIN]
  return columns.map(column => {
    const name = column.origin === 'tag' ? column.tag : column.origin === 'field' ? fields[column.field ?? 0].name : ''
    return names.includes(String(name)) ? { ...column, isKey: true } : column
  })
}

/**
 * The values of a field or tag by row, undefined where one is missing.
 * @param {Batch} batch
 * @param {string} name
 * @returns {(row: number) => unknown}
 */
function cellsOf (batch, name) {
  const field = batch.fields.findIndex(each => each.name === name)
  if (field !== -1) return row => batch.value(field, row)
  const tag = batch.tags[name]
  if (tag === undefined || typeof tag === 'string') return () => tag
  return row => tag.valid?.[row] === 0 ? undefined : tag.values[row]
}

/** @param {Batch} batch */
function arrivalOf (batch) {
  const arrival = arrivals.get(batch) ?? ++arrived
  arrivals.set(batch, arrival)
  return arrival
}
