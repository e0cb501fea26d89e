import { documentsOf, nameOf, readDocument } from './documents.js'
import { readRow, rowsOf } from './rows.js'
import { statementOf } from './statement.js'

/**
 * What a message carries, whichever node it was made for.
 *
 * @typedef {import('./rows.js').Row} Row
 * @typedef {{payload?: unknown, topic?: unknown, timestamp?: unknown, [property: string]: unknown}} Message
 *
 * @typedef {object} Contents
 * @property {unknown[]} rows
 * @property {(row: unknown) => Row|null} read  null where it is not a row; may throw
 * @property {unknown} [source]  of rows that name no measurement
 * @property {unknown} [fallback]  their source where neither `source` nor the node's options give one
 * @property {Record<string, unknown>} [tags]  of rows that have none
 * @property {string} [precision]  the unit of times that are numbers
 */

const INTEGER = /^-?\d{1,19}i$/

/**
 * @param {Message} message
 * @param {() => bigint} now  in nanoseconds
 * @param {boolean} nested  rows may hold objects and arrays
 * @returns {Contents|null} null where it carries nothing
 * @throws {import('../base/errors.js').SluiceError} where it asks for more than storing rows
 */
export function contentsOf (message, now, nested) {
  return statementOf(message, now) ?? (message.payload == null ? null : documentsOf(message) ?? pointsOf(message, nested))
}

/** @param {Message} message @param {boolean} nested @returns {Contents} */
function pointsOf ({ payload, measurement, collection, precision }, nested) {
  const name = nameOf(measurement)
  const measured = name !== undefined
  const { rows, source = name, tags } = rowsOf(payload, { measured })
  const read = nested ? readNested : readRow
  return { rows, read: row => withIntegers(read(row), measured), source, fallback: nameOf(collection), tags, precision: nameOf(precision) }
}

/** @param {unknown} row */
function readNested (row) {
  const read = readRow(row)
  return read?.values === row ? readDocument(row) : read
}

/**
 * Of a point with a measurement, the text "5i" is the integer 5, as in InfluxDB's line protocol.
 * @param {Row|null} row
 * @param {boolean} measured
 */
function withIntegers (row, measured) {
  if (!row || !(measured || typeof row.measurement === 'string')) return row
  const { values } = row
  const isInteger = (/** @type {unknown} */ value) => typeof value === 'string' && INTEGER.test(value)
  if (!Object.values(values).some(isInteger)) return row
  const converted = Object.entries(values).map(([name, value]) => [name, isInteger(value) ? BigInt(String(value).slice(0, -1)) : value])
  return { ...row, values: Object.fromEntries(converted) }
}
