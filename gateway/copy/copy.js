import { SluiceError } from '../base/errors.js'
import { marker } from '../batch/batch.js'
import { formatTime } from '../batch/time.js'
import { narrowRows, wideRows } from './batches.js'
import { numberTypes, typeOf, VALUES } from './columns.js'
import { ALWAYS, rangeOf } from './range.js'
import { differences } from './verify.js'
import { copiesIn, copyGateway, endOf, epochOf, planFor, seqAt } from './windows.js'

/**
 * Moves the history of one source from a database to another, each row exactly once, however often it is begun anew.
 *
 * @typedef {import('../databases/reader.js').Reader} Reader
 * @typedef {import('../databases/reader.js').Rows} Rows
 * @typedef {import('../databases/reader.js').TableColumn} TableColumn
 * @typedef {import('../databases/sink.js').Sink} Sink
 * @typedef {import('./windows.js').Plan} Plan
 *
 * @typedef {object} From
 * @property {string} type  of the database
 * @property {string} store  its id
 * @property {string} table
 * @property {'wide'|'narrow'} layout
 * @property {Required<Pick<Reader, 'columns'|'rows'>> & Reader} reader
 *
 * @typedef {object} To
 * @property {string} type
 * @property {string} layout
 * @property {Sink} sink
 * @property {(batch: import('../batch/batch.js').Batch) => Promise<import('../writer/writer.js').Written>} write  resolves once it is
 *   stored, now or before
 * @property {Reader|null} reader  null where the database cannot be read
 * @property {() => Promise<import('./staged.js').Staged>} staged  of the source, what spools hold
 *
 * @typedef {object} Wish
 * @property {bigint} [since]
 * @property {bigint} [until]
 * @property {boolean} [dryRun]
 * @property {readonly string[]} [textFields]  columns of text that are fields, not tags
 * @property {readonly string[]} [without]  columns that are left out
 * @property {(progress: Progress) => void} [progress]
 * @property {AbortSignal} [signal]
 *
 * @typedef {{plan: Plan, at: bigint, rows: number}} Progress  `at`: what is before this has been copied; `rows`: by this run
 * @typedef {object} Copied
 * @property {Plan|null} plan  null where there is nothing
 * @property {number} values  in the source between since and until
 * @property {number} rows  stored by this run
 * @property {number} deadRows  refused by the target
 * @property {number} before  rows that earlier runs had stored
 * @property {import('./verify.js').Difference[]|null} differences  null where they could not be looked for
 */

/** So many windows are on their way to the target, or so many values. */
const WRITES = 64
const WRITTEN_VALUES = 400_000
/** After so many rows another reading begins: a long one keeps the source from tidying up. */
const READING_ROWS = 200_000
/** So many at a time. */
const PAGE_VALUES = 100_000
/** More do not fit into memory together. */
const MAX_WINDOW_VALUES = 5_000_000

/**
 * @param {From} from
 * @param {To} to
 * @param {string} source
 * @param {Wish} [wish]
 * @returns {Promise<Copied>}
 * @throws {SluiceError} SLUICE_COPY_PLACE, SLUICE_COPY_RANGE, SLUICE_COPY_BEHIND, SLUICE_COPY_COLUMN, SLUICE_COPY_DENSE
 */
export async function copySource (from, to, source, wish = {}) {
  const { textFields = [], without = [], signal } = wish
  const gateway = copyGateway(from.store, from.table)
  const columns = (await from.reader.columns()).filter(({ name }) => !without.includes(name))
  if (columns.length === 0) throw noTable(from.table)
  const sensors = await sensorsOf(from, columns, signal)
  const records = (await to.sink.committed()).records.filter(record => record.source === source)
  const copies = copiesIn(records, gateway)
  const range = await rangeOf({ from, to, source, sensors, copies, records, wish })
  const values = range ? await valuesIn(from.reader, sensors, range, signal) : 0
  /** @type {Copied} */
  const result = { plan: null, values, rows: 0, deadRows: 0, before: 0, differences: null }
  if (!range) return result
  const known = copies.find(({ plan }) => plan.since === range.since && plan.until === range.until)
  const fullest = (/** @type {bigint} */ lengthNs) => fullestOf(from.reader, sensors, range, lengthNs, signal)
  const plan = known?.plan ?? await planFor(range.since, range.until, fullest)
  Object.assign(result, { plan, before: known?.rows ?? 0 })
  if (wish.dryRun) return result

  const identityOf = (/** @type {number} */ seq) => ({ gateway, source, epoch: epochOf(plan), seq })
  if (!known) await to.write(marker(identityOf(0)))
  const form = formOf(from, columns, await targetTypes(to, plan), textFields)
  /** @type {Set<Promise<void>>} */
  const writing = new Set()
  let underWay = 0
  for await (const { seq, rows } of windowsOf(from.reader, plan, signal)) {
    if (!known?.done.has(seq)) {
      const batch = form(source, rows).withIdentity(identityOf(seq))
      const size = batch.rows * batch.fields.length
      underWay += size
      const written = to.write(batch).then(({ outcome, deadRows }) => {
        if (outcome === 'stored') result.rows += batch.rows - deadRows
        result.deadRows += deadRows
        underWay -= size
        writing.delete(written)
      })
      writing.add(written)
      written.catch(() => {}) // it is awaited below
      while (writing.size >= WRITES || underWay >= WRITTEN_VALUES) await Promise.race(writing)
    }
    wish.progress?.({ plan, at: endOf(plan, seq), rows: result.rows })
  }
  await Promise.all(writing)
  if (to.reader) result.differences = await differences({ from: from.reader, to: to.reader, sensors, plan, signal })
  return result
}

/**
 * The rows of each window that has any.
 * @param {From['reader']} reader
 * @param {Plan} plan
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<{seq: number, rows: Rows}>}
 */
async function * windowsOf (reader, plan, signal) {
  const pageRows = Math.ceil(PAGE_VALUES / ((await reader.columns()).length + 1))
  for (let from = plan.since; from < plan.until;) {
    let next = plan.until
    let read = 0
    /** @type {{seq: number, rows: Rows}|null} */
    let window = null
    for await (const { columns, rows } of reader.rows({ from, to: plan.until, pageRows, signal })) {
      for (const [seq, its] of Map.groupBy(rows, ([time]) => seqAt(plan, time))) {
        if (window && window.seq !== seq) {
          yield window
          window = null
        }
        window ??= { seq, rows: { columns, rows: [] } }
        for (const row of its) window.rows.rows.push(row)
        if (window.rows.rows.length * columns.length > MAX_WINDOW_VALUES) throw tooDense(plan, seq)
      }
      read += rows.length
      // What has been read of the last window is read again.
      if (read >= READING_ROWS && window && endOf(plan, window.seq - 1) > from) {
        next = endOf(plan, window.seq - 1)
        window = null
        break
      }
    }
    if (window) yield window
    from = next
  }
}

/**
 * @param {From} from
 * @param {TableColumn[]} columns
 * @param {Map<string, import('../batch/batch.js').FieldType>} wanted  by the target
 * @param {readonly string[]} textFields
 */
function formOf ({ type, layout }, columns, wanted, textFields) {
  const its = columns.map(column => ({ name: column.name, type: typeOf(type, column) }))
  const isNumber = numberTypes(type, columns)
  const kept = its.map(column => ({ ...column, type: (isNumber.has(column.name) && wanted.get(column.name)) || column.type }))
  const form = layout === 'narrow' ? narrowRows : wideRows((name, held) => held === 'string' && !textFields.includes(name))
  return (/** @type {string} */ source, /** @type {Rows} */ { columns: found, rows }) => {
    const places = kept.map(({ name }) => 1 + found.findIndex(column => column.name === name))
    return form(source, rows.map(row => /** @type {any} */ ([row[0], ...places.map(place => row[place])])), kept)
  }
}

/**
 * What the target has numbers as: its columns, or where a narrow table has the values of each sensor.
 * @param {To} to
 * @param {Plan} plan
 * @returns {Promise<Map<string, import('../batch/batch.js').FieldType>>}
 */
async function targetTypes ({ type, layout, reader }, { until }) {
  if (!reader?.rows || !reader.columns) return new Map()
  const columns = await reader.columns()
  if (layout === 'wide') return numberTypes(type, columns)
  if (layout !== 'narrow' || columns.length === 0) return new Map()
  for await (const { columns: found, rows } of reader.rows({ ...ALWAYS, from: until })) {
    const sensor = found.findIndex(({ name }) => name === 'sensor') + 1
    return new Map(rows.flatMap(row => {
      const column = found.find(({ name }, i) => ['value', 'value_int64'].includes(name) && row[i + 1] !== null)
      return column ? [[String(row[sensor]), VALUES[column.name]]] : []
    }))
  }
  return new Map()
}

/** @param {From} from @param {TableColumn[]} columns @param {AbortSignal} [signal] */
async function sensorsOf ({ layout, reader }, columns, signal) {
  if (layout === 'narrow') return await reader.sensors?.({ ...ALWAYS, signal }) ?? []
  return columns.map(({ name }) => name)
}

/** @param {Reader} reader @param {string[]} sensors @param {{since: bigint, until: bigint}} range @param {AbortSignal} [signal] */
async function valuesIn (reader, sensors, { since: from, until: to }, signal) {
  const summaries = await reader.summaries({ sensors, from, to, statistics: ['count'], signal })
  return summaries.reduce((sum, { count = 0 }) => sum + count, 0)
}

/**
 * How many values there are in the fullest part of a range.
 * @param {Reader} reader
 * @param {string[]} sensors
 * @param {{since: bigint, until: bigint}} range
 * @param {bigint} bucketNs  how long a part is
 * @param {AbortSignal} [signal]
 */
async function fullestOf (reader, sensors, { since: from, until: to }, bucketNs, signal) {
  const summaries = await reader.summaries({ sensors, from, to, bucketNs, together: true, statistics: ['count'], signal })
  return summaries.reduce((fullest, { count = 0 }) => Math.max(fullest, count), 0)
}

/** @param {string} table */
function noTable (table) {
  return new SluiceError('SLUICE_COPY_PLACE', `There is no table "${table}", or nothing in it to copy.`, {
    fix: 'Check the source; where the database ignores case, its table may have another name.'
  })
}

/** @param {Plan} plan @param {number} seq */
function tooDense (plan, seq) {
  const message = `The ${Number(plan.windowNs) / 1e9} s before ${formatTime(endOf(plan, seq))} have too many rows for one batch.`
  return new SluiceError('SLUICE_COPY_DENSE', message, {
    fix: 'Copy what came before and after by itself: --since and --until.'
  })
}
