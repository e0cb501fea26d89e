import { narrowColumn } from '../../messages/codecs/line-protocol/kinds.js'
import { measurementText } from '../../messages/codecs/line-protocol/names.js'
import { fitTable, wideColumns } from '../wide.js'
import { dialect, narrowDialect } from './dialect.js'
import { quoteTable } from './influxql.js'
import { rowsOf } from './connection.js'

/**
 * How the batches of one shape become lines.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').WideColumn} WideColumn
 * @typedef {import('../../messages/codecs/line-protocol/line-protocol.js').Lines} Lines
 * @typedef {{name: string, field?: number}} OwnTag
 *
 * @typedef {object} Plan
 * @property {string} measurement
 * @property {{name: string, tag: string}[]} tags  constant ones, by the batch's name for them
 * @property {OwnTag[]} ownTags  the source, and fields that are tags
 * @property {import('../../messages/codecs/line-protocol/line-protocol.js').LineField[]} fields
 * @property {boolean} narrow
 * @property {boolean} withSource  several sources share the measurement
 */

/**
 * @param {Batch} batch
 * @param {object} options
 * @param {string} options.measurement
 * @param {boolean} options.withSource  several sources share the measurement
 * @param {boolean} options.narrow
 * @param {Set<string>} options.tagFields
 * @param {string} options.policy
 * @param {import('./connection.js').InfluxdbServer} server
 * @returns {Promise<Plan>}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT
 */
export async function makePlan (batch, { measurement, withSource, narrow, tagFields, policy }, server) {
  measurementText(measurement) // refuses names that no statement could hold
  const rules = narrow ? narrowDialect : dialect
  const columns = wideColumns(batch, rules, withSource)
  const isTag = (/** @type {WideColumn} */ { origin, field = 0 }) => {
    return origin !== 'field' || (!narrow && tagFields.has(batch.fields[field].name))
  }
  const { tags = [], fields = [] } = Object.groupBy(columns, column => isTag(column) ? 'tags' : 'fields')
  const stored = narrow ? narrowFields(batch) : fields
  const listed = rowsOf(await server.query(`SHOW FIELD KEYS FROM ${quoteTable(policy, measurement)}`))
  const kinds = Map.groupBy(listed, ({ fieldKey }) => fieldKey)
  const existing = stored.flatMap(({ name, type }) => {
    const its = (kinds.get(name) ?? []).map(({ fieldType }) => fieldType)
    // Older shards may hold another type: the server reports it when a write meets it.
    const kind = its.find(each => rules.accepts[type].includes(each)) ?? its[0]
    return kind === undefined ? [] : [{ name, kind }]
  })
  const fitted = fitTable(measurement, stored, existing, rules)
  const placed = [...fitted.columns, ...fitted.missing.map(column => ({ ...column, kind: rules.columnTypes[column.type] }))]
  return {
    measurement,
    narrow,
    withSource,
    tags: tags.flatMap(({ name, tag }) => tag === undefined ? [] : [{ name, tag }]),
    ownTags: tags.flatMap(({ name, origin, field }) => {
      /** @type {OwnTag[]} */
      const own = origin === 'source' ? [{ name }] : field === undefined ? [] : [{ name, field }]
      return own
    }),
    fields: narrow
      ? batch.fields.map(({ name, type }, field) => ({ name, field, kind: narrowColumn(type).kind }))
      : placed.map(({ name, field, kind }) => ({ name, field: /** @type {number} */ (field), kind: /** @type {any} */ (kind) }))
  }
}

/** @param {Plan} plan @param {Batch} batch @returns {Lines} */
export function linesOf ({ measurement, tags, ownTags, fields, narrow }, batch) {
  const { identity } = batch
  return {
    batch,
    measurement,
    narrow,
    fields,
    tags: [
      ...ownTags.map(({ name, field }) => field === undefined ? { name, value: batch.source } : { name, field }),
      ...identity ? [{ name: 'gateway', value: identity.gateway }] : [],
      ...tags.map(({ name, tag }) => ({ name, value: batch.tags[tag] }))
    ]
  }
}

/** The fields that hold a narrow line's values. @param {Batch} batch @returns {WideColumn[]} */
function narrowFields ({ fields }) {
  const byName = new Map(fields.map(({ type }) => {
    const { name, kind } = narrowColumn(type)
    return [name, /** @type {WideColumn} */ ({ name, type: kind === 'float' ? 'float64' : type, origin: 'field' })]
  }))
  return [...byName.values()]
}
