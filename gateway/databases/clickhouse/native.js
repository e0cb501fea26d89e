import { constantOf, valuesOf } from '../wide.js'
import { ColumnBytes } from './column-bytes.js'
import { BATCH_COLUMN, EPOCH_COLUMN, SEQ_COLUMN } from './dialect.js'
import { dictionaryColumn } from './dictionary.js'
import { numbersAs, secondsOf } from './numbers.js'

/**
 * Blocks of ClickHouse's Native format: how many columns and rows, then of each column its name, its type and all its values,
 * little-endian.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {{batch: Batch, epoch: bigint, seq: number, record: number[]}} Part  a batch, arranged, and which one it is; `record` has what
 *   else its commit record does
 */

/** The names, types and numbers of columns and rows are within this, each. */
const HEAD_BYTES = 64

/**
 * One block of the rows of all parts.
 * @param {PlacedColumn[]} columns
 * @param {Part[]} parts  at least one row
 * @returns {Buffer}
 */
export function nativeBlock (columns, parts) {
  const rows = parts.reduce((sum, { batch }) => sum + batch.rows, 0)
  const out = new ColumnBytes(HEAD_BYTES + columns.length * (HEAD_BYTES + 9 * rows))
  out.varint(columns.length)
  out.varint(rows)
  for (const column of columns) {
    out.text(column.name)
    out.text(wireType(column.kind))
    writeColumn(out, column, parts, rows)
  }
  return out.filled
}

/** Kinds are types, but for one. @param {string} kind */
function wireType (kind) {
  return kind === 'DateTime64(9)' ? 'DateTime64(9, \'UTC\')' : kind
}

/** @param {ColumnBytes} out @param {PlacedColumn} column @param {Part[]} parts @param {number} rows */
function writeColumn (out, column, parts, rows) {
  const { type, kind, name } = column
  if (name === EPOCH_COLUMN) return out.constants(parts.map(({ batch, epoch }) => [batch.rows, epoch]))
  if (name === SEQ_COLUMN) return out.constants(parts.map(({ batch, seq }) => [batch.rows, BigInt(seq)]))
  if (name === BATCH_COLUMN) {
    let end = 0
    out.constants(parts.map(({ batch, record }) => [batch.rows, BigInt(end += record.length)]))
    return parts.forEach(({ record }) => out.raw(BigInt64Array.from(record, BigInt)))
  }
  if (type === 'time') return parts.forEach(({ batch: { time } }) => out.raw(kind === 'DateTime' ? secondsOf(time) : time))
  if (type === 'time_ns') return parts.forEach(({ batch: { time } }) => out.raw(time))

  const [, isDictionary, isNullable, base] = /** @type {RegExpExecArray} */ (/^(LowCardinality\()?(Nullable\()?(\w+)/.exec(kind))
  const pieces = parts.map(({ batch }) => {
    const constant = constantOf(column, batch)
    return constant === undefined ? { rows: batch.rows, ...valuesOf(column, batch) } : { rows: batch.rows, constant, valid: null }
  })
  if (isDictionary) return dictionaryColumn(out, pieces, rows, isNullable !== undefined)
  if (isNullable) for (const piece of pieces) out.nullMap(piece.rows, piece.valid)
  for (const piece of pieces) {
    if (piece.constant !== undefined) out.repeatedText(piece.constant, piece.rows)
    else if (base === 'String') out.texts(/** @type {any} */ (piece.values), piece.valid)
    else out.raw(numbersAs(base, /** @type {any} */ (piece.values)))
  }
}

/**
 * The rows that have no value for a column that must have one.
 * @param {PlacedColumn[]} columns
 * @param {Batch} batch
 * @returns {Map<number, string>} the column's name, by row
 */
export function gaps (columns, batch) {
  /** @type {Map<number, string>} */
  const found = new Map()
  for (const column of columns) {
    const { origin, kind, name } = column
    const isOwn = origin === 'time' || constantOf(column, batch) !== undefined
    const valid = isOwn || !['tag', 'field'].includes(origin) ? null : valuesOf(column, batch).valid
    if (!valid || kind.includes('Nullable(')) continue
    valid.forEach((mark, row) => { if (mark === 0 && !found.has(row)) found.set(row, name) })
  }
  return found
}
