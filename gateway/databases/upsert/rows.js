import { createHash } from 'node:crypto'
import { Batch, pickOf } from '../../batch/batch.js'
import { counterOf } from '../../batch/epochs.js'
import { RefusedRows } from '../refusal.js'
import { tagColumnOf } from '../wide.js'
import { ORIGIN, UPSERT, UPSERT_COLUMNS } from './layout.js'

/**
 * The rows of the layout upsert.
 *
 * @typedef {import('../../batch/batch.js').FieldType} FieldType
 * @typedef {import('../../batch/batch.js').Identity} Identity
 * @typedef {{layout?: string, key?: string[]}} Options  of a sink
 * @typedef {Record<'origin'|'epoch'|'seq', BigInt64Array>} Versions  of rows; `seq` has their numbers in the batch, too
 */

/** What tells keys apart exactly in every database. @type {readonly FieldType[]} */
const KEY_TYPES = ['string', 'int64', 'int32', 'int16', 'uint16']

/** Below the seq of its batch in a version: the number of a row, of which no record has so many. */
const ROW_BITS = 20n
const MAX_ROW = 2 ** Number(ROW_BITS) - 1

/**
 * The epoch of batches without identity, another in each process and less than 0: they are in order within a process, and replace what
 * another has stored.
 */
const UNSTAGED = -BigInt(Date.now())

/**
 * When batches without identity came, in milliseconds of this process, no two at the same: each keeps its place for all attempts.
 * @type {WeakMap<Batch, number>}
 */
const arrivals = new WeakMap()
let arrived = 0

/** To be called as soon as they come, before anything is waited for. @param {Batch[]} batches @param {Options} options  of the sink */
export function noteArrivals (batches, { layout }) {
  if (layout !== UPSERT) return
  for (const batch of batches) if (!batch.identity) arrivalOf(batch.origin?.whole ?? batch)
}

/**
 * Rows that were staged again, or come from the dead letters, are as old as when they were first staged.
 * @param {Batch} batch
 * @returns {Versions}
 */
export function versionsOf (batch) {
  const { identity, rows } = batch
  const { replayOf: letters = [] } = identity ?? {}
  const places = new Map(letters.map(letter => [letter, placeOf(batch, letter.identity)]))
  const versions = { origin: new BigInt64Array(rows), epoch: new BigInt64Array(rows), seq: new BigInt64Array(rows) }
  const whole = placeOf(batch, identity)
  for (let row = 0; row < rows; row++) {
    const letter = letters[batch.rowNumber(row)]
    const { origin, epoch, seq, from } = places.get(letter) ?? whole
    versions.origin[row] = origin
    versions.epoch[row] = epoch
    versions.seq[row] = seq + BigInt(Math.min(from + (letter?.row ?? batch.rowNumber(row)), MAX_ROW))
  }
  return versions
}

/** Where the rows of an identity begin. @param {Batch} batch @param {Identity|null} identity */
function placeOf (batch, identity) {
  const { gateway = '', epoch = '', seq = arrivalOf(batch.origin?.whole ?? batch), ancestors = [] } = identity ?? {}
  const [first = { epoch, seq }] = ancestors
  const digest = createHash('sha256').update(JSON.stringify([gateway, batch.source])).digest()
  return {
    origin: digest.readBigInt64BE(),
    epoch: identity ? counterIn(first.epoch) : UNSTAGED,
    seq: BigInt(first.seq) << ROW_BITS,
    from: ancestors.reduce((sum, { from = 0 }) => sum + from, 0)
  }
}

/** Of an epoch that somebody else has named, 0. @param {string} epoch */
function counterIn (epoch) {
  const counter = counterOf(epoch)
  return Number.isSafeInteger(counter) && counter > 0 ? BigInt(counter) : 0n
}

/**
 * Arranges a batch: of each key its newest row, in the order of the keys, so that writers side by side lock rows in one order; with the
 * version in fields of their own.
 * @param {readonly string[]} key
 * @returns {(batch: Batch) => Batch}
 */
export function newestByKey (key) {
  return batch => {
    const newest = withoutOwnNames(newestOf(batch, key))
    const { origin, epoch, seq } = versionsOf(newest)
    return new Batch({
      ...newest,
      origin: null,
      fields: [...newest.fields, ...UPSERT_COLUMNS.map(name => ({ name, type: /** @type {const} */ ('int64') }))],
      columns: [...newest.columns, origin, epoch, seq],
      validity: [...newest.validity, null, null, null]
    })
  }
}

/** Of each key the newest row, in the order of the keys. @param {Batch} batch @param {readonly string[]} key */
export function newestOf (batch, key) {
  const cells = key.map(name => cellsOf(batch, name))
  const versions = batch.identity?.replayOf ? versionsOf(batch) : null
  if (versions) cells.push(row => versions.origin[row])
  const textOf = cells.length === 1
    ? (/** @type {number} */ row) => String(cells[0](row))
    : (/** @type {number} */ row) => JSON.stringify(cells.map(cell => String(cell(row))))
  const isOlder = (/** @type {number} */ row, /** @type {number|undefined} */ than) =>
    versions !== null && than !== undefined && isOlderIn(versions, row, than)
  /** @type {Map<string, number>} */
  const newest = new Map()
  for (let row = 0; row < batch.rows; row++) {
    const text = textOf(row)
    if (!isOlder(row, newest.get(text))) newest.set(text, row)
  }
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
export function cellsOf (batch, name) {
  const field = batch.fields.findIndex(each => each.name === name)
  if (field !== -1) return row => batch.value(field, row)
  const tag = Object.hasOwn(batch.tags, name) ? batch.tags[name] : undefined
  if (tag === undefined || typeof tag === 'string') return () => tag
  return row => tag.valid?.[row] === 0 ? undefined : tag.values[row]
}

/** @param {Versions} versions @param {number} row @param {number} than */
function isOlderIn ({ epoch, seq }, row, than) {
  return epoch[row] === epoch[than] ? seq[row] < seq[than] : epoch[row] < epoch[than]
}

/**
 * Fields and tags that are called like what an upsert has of its own have another name in the table.
 * @param {Batch} batch
 */
function withoutOwnNames (batch) {
  const { fields, tags } = batch
  const isOwn = (/** @type {string} */ name) => UPSERT_COLUMNS.includes(name)
  if (!fields.some(({ name }) => isOwn(name)) && !Object.keys(tags).some(isOwn)) return batch
  return new Batch({
    ...batch,
    fields: fields.map(field => isOwn(field.name) ? { ...field, name: `${field.name}~field` } : field),
    tags: Object.fromEntries(Object.entries(tags).map(([name, tag]) => [isOwn(name) ? tagColumnOf(name) : name, tag]))
  })
}

/** @param {Batch} batch */
function arrivalOf (batch) {
  const known = arrivals.get(batch)
  if (known !== undefined) return known
  arrived = Math.max(arrived + 1, Math.floor(performance.now()))
  arrivals.set(batch, arrived)
  return arrived
}
