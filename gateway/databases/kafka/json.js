import { ISO_BYTES, isoWriter } from '../file/iso-time.js'
import { constantOf, valuesOf } from '../wide.js'

/**
 * Rows as JSON objects, as Kafka Connect, Flink, ksqlDB and ClickHouse read them: the time in ISO 8601 with nine decimals, whole numbers in
 * all their digits, what JSON has no number for as text ("NaN", "Infinity"), bytes in Base64. What is missing is left out.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').WideColumn} WideColumn
 */

/** @param {Batch} batch @param {WideColumn[]} columns @returns {Generator<Buffer, void, void>} */
export function * jsonRows (batch, columns) {
  const writeTime = isoWriter(batch.time)
  const time = Buffer.alloc(ISO_BYTES)
  const members = columns.filter(({ origin }) => origin !== 'time').map(column => memberOf(column, batch))
  for (let row = 0; row < batch.rows; row++) {
    writeTime(time, 0, row)
    let text = `{"time":"${time.toString('latin1')}"`
    for (const member of members) text += member(row)
    yield Buffer.from(`${text}}`)
  }
}

/** A column of a row, with the comma before it. @param {WideColumn} column @param {Batch} batch @returns {(row: number) => string} */
function memberOf (column, batch) {
  const name = `,${JSON.stringify(column.name)}:`
  const constant = constantOf(column, batch)
  if (constant !== undefined) {
    const member = name + JSON.stringify(constant)
    return () => member
  }
  const { type, values, valid } = valuesOf(column, batch)
  const text = textOf(type)
  const all = /** @type {any} */ (values)
  return row => valid && valid[row] === 0 ? '' : name + text(all[row])
}

/** @param {import('../../batch/batch.js').FieldType} type @returns {(value: any) => string} */
function textOf (type) {
  if (type === 'string') return JSON.stringify
  if (type === 'bool') return value => value === 1 ? 'true' : 'false'
  if (type === 'bytes') return value => `"${Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64')}"`
  if (type === 'float64' || type === 'float32') return value => Number.isFinite(value) ? String(value) : `"${value}"`
  return String
}
