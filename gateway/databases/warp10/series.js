import { Batch } from '../../batch/batch.js'
import { floor } from '../../batch/layouts.js'
import { SluiceError } from '../../base/errors.js'
import { ordinals } from '../../messages/codecs/line-protocol/ordinals.js'
import { escaped } from '../../messages/codecs/warp10/text.js'
import { RefusedRows } from '../refusal.js'
import { fitTable, wideColumns } from '../wide.js'
import { dialect } from './dialect.js'
import { all } from './selector.js'

/**
 * How batches become series. A point's place is its class, its labels and its tick; one that is written there again takes its place. So
 * what tells rows of the same tick apart are labels: `ns` has what a time is beyond its tick, and `row` counts rows of the same time and
 * tags. Neither depends on what else is in a write.
 *
 * @typedef {object} Plan
 * @property {string} table  the value of the label `id`
 * @property {boolean} isList  all values of a row are one point
 * @property {import('../wide.js').WideColumn[]} labels
 * @property {import('../wide.js').PlacedColumn[]} classes
 */

/** How many values of the label `ns` there may be: each is a series of its own. */
const MOST_PARTS = 1000n

/**
 * @param {import('./connection.js').Warp10Server} server
 * @param {{name: string, arranged: Batch, withSource: boolean}} wanted
 * @param {boolean} isList
 * @returns {Promise<Plan>}
 * @throws {SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function makePlan (server, { name, arranged, withSource }, isList) {
  const { field: fields = [], label: labels = [] } = Object.groupBy(wideColumns(arranged, dialect, withSource), ({ origin }) => {
    return origin === 'field' ? 'field' : 'label'
  })
  const existing = isList ? [] : await kindsIn(server, name, fields)
  const { columns, missing } = fitTable(name, fields, existing, dialect)
  const placed = [...columns, ...missing.map(column => ({ ...column, kind: dialect.columnTypes[column.type] }))]
  return { table: name, isList, labels, classes: placed }
}

/**
 * Of the newest points of each series.
 * @param {import('./connection.js').Warp10Server} server
 * @param {string} table
 * @param {import('../wide.js').WideColumn[]} fields
 */
async function kindsIn (server, table, fields) {
  /** @type {Map<string, Set<string>>} */
  const kinds = new Map()
  for await (const { series: { name }, value } of server.points({ selector: all({ id: table }), count: 1 })) {
    kinds.set(name, (kinds.get(name) ?? new Set()).add(value.type))
  }
  return [...kinds].map(([name, its]) => {
    // Others may have stored several kinds in one class.
    const type = fields.find(field => field.name === name)?.type
    const fitting = [...its].find(kind => type && dialect.accepts[type].includes(kind))
    return { name, kind: fitting ?? [...its][0] }
  })
}

/**
 * The batch whose text is to be stored: its source is the label `id`, its tags are the other labels.
 * @param {Plan} plan
 * @param {Batch} batch
 * @param {bigint} unitNs  of the server's ticks
 */
export function seriesOf ({ table, isList, labels, classes }, batch, unitNs) {
  const beyond = batch.time.map(ns => ns - floor(ns, unitNs))
  const nth = ordinals(batch, [])
  return new Batch({
    source: table,
    time: batch.time,
    tags: {
      ...Object.fromEntries(labels.map(({ name, origin, tag = '' }) => [name, origin === 'source' ? batch.source : batch.tags[tag]])),
      ...batch.identity && { gateway: batch.identity.gateway },
      ...isList && { fields: classes.map(({ name }) => escaped(name)).join(',') },
      ...beyond.some(Boolean) && { ns: numbers(beyond) },
      ...nth?.some(Boolean) && { row: numbers(nth) }
    },
    fields: classes.map(({ name, type, kind }) => ({ name, type: isDouble(type, kind) ? 'float64' : /** @type {'bool'} */ (type) })),
    columns: classes.map(({ type, kind, field = 0 }) => {
      return isDouble(type, kind) ? Float64Array.from(/** @type {Int32Array} */ (batch.columns[field])) : batch.columns[field]
    }),
    validity: classes.map(({ field = 0 }) => batch.validity[field])
  })
}

/** Of those that are not 0. @param {BigInt64Array|Int32Array} column @returns {import('../../batch/tags.js').TagColumn} */
function numbers (column) {
  const values = Array.from(column, String)
  return { values, valid: Uint8Array.from(values, text => text === '0' ? 0 : 1) }
}

/** Whether whole numbers go to a class of doubles. @param {string} type @param {string} kind */
function isDouble (type, kind) {
  return kind === 'float64' && type !== 'float64' && type !== 'float32'
}

/** @param {Batch[]} batches @param {bigint} unitNs @throws {RefusedRows} times that would make too many series */
export function checkTimes (batches, unitNs) {
  const part = unitNs / MOST_PARTS
  if (part <= 1n) return
  const faults = batches.flatMap(batch => [...batch.time.keys()].filter(row => batch.time[row] % part !== 0n).map(row => {
    const error = new SluiceError('SLUICE_SINK_ROWS', `The time ${batch.time[row]} is finer than the server's unit by too much.`, {
      fix: 'Store on a server whose warp.timeunits is us or ns.'
    })
    return { batch, row, error }
  }))
  if (faults.length > 0) throw new RefusedRows(faults)
}
