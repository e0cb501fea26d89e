import { cellsOf } from '../upsert/rows.js'
import { timestampsOf } from '../upsert/timestamps.js'
import { ORIGIN } from '../upsert/layout.js'
import { cellsIn } from '../wide.js'
import { kinds } from './dialect.js'
import { FAMILY } from './tables.js'

/**
 * The rows of batches as HBase has them.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./cells.js').Row} Row
 * @typedef {import('./tables.js').Plan} Plan
 */

/** What is sent at a time. */
const CHUNK_ROWS = 2000
const CHUNK_BYTES = 1024 * 1024

/** Of a key: 8 bytes of the time, 16 of the batch, 4 of the row's number in it; of a narrow row its sensor follows. */
const [BATCH_AT, ROW_AT, KEY_BYTES] = [8, 24, 28]

/** The key that all rows from a time on have, or are after. @param {bigint} time */
export function keyAt (time) {
  const key = Buffer.alloc(8)
  putTime(key, time)
  return key
}

/** Bytes in the order of times: those before 1970 come first. @param {Buffer} key @param {bigint} time */
function putTime (key, time) {
  key.writeBigInt64BE(time)
  key[0] ^= 0x80
}

/**
 * Keys begin with the time, so that a range of time is a range of keys.
 * @param {Plan} plan @param {Batch} arranged @param {Buffer} batchKey
 * @returns {Generator<Row, void, void>}
 */
export function * timedRows ({ columns, isNarrow }, arranged, batchKey) {
  const cells = columns.map(column => cellOf(column, arranged))
  const sensors = isNarrow ? /** @type {string[]} */ (arranged.columns[0]) : null
  for (let row = 0; row < arranged.rows; row++) {
    const key = Buffer.allocUnsafe(KEY_BYTES)
    putTime(key, arranged.time[row])
    key.set(batchKey, BATCH_AT)
    key.writeUInt32BE(arranged.rowNumber(row), ROW_AT)
    yield { key: sensors ? Buffer.concat([key, Buffer.from(sensors[row])]) : key, cells: cellsAt(cells, row) }
  }
}

/**
 * All cells of a version have its timestamp: an older one that comes late, or again, replaces nothing, and what a newer one lacks is known
 * by its age.
 * @param {Plan} plan @param {Batch} arranged @param {number} beganMs  see `timestampsOf`
 * @returns {Generator<Row, void, void>}
 */
export function * keyedRows ({ columns, key }, arranged, beganMs) {
  const cells = columns.map(column => cellOf(column, arranged))
  const parts = key.map(name => columns.find(column => column.name === name)).map(column =>
    cellsOf(arranged, column?.origin === 'tag' ? column.tag ?? '' : arranged.fields[column?.field ?? 0].name))
  const origins = cellsOf(arranged, ORIGIN)
  for (const [row, timestamp] of timestampsOf(arranged, beganMs).entries()) {
    const origin = BigInt.asUintN(64, /** @type {bigint} */ (origins(row))).toString(16).padStart(16, '0')
    yield { key: Buffer.from(`${keyText(parts.map(part => part(row)))}/${origin}`), cells: cellsAt(cells, row), timestamp }
  }
}

/** A key as text of ASCII letters. @param {unknown[]} values */
export function keyText (values) {
  return values.map(value => encodeURIComponent(String(value).toWellFormed())).join('/')
}

/** @param {Iterable<Row>} rows @returns {Generator<Row[], void, void>} */
export function * chunksOf (rows) {
  /** @type {Row[]} */
  let chunk = []
  let size = 0
  for (const row of rows) {
    let bytes = row.key.length
    for (const [column, value] of row.cells) bytes += column.length + value.length
    if (chunk.length === CHUNK_ROWS || (chunk.length > 0 && size + bytes > CHUNK_BYTES)) {
      yield chunk
      chunk = []
      size = 0
    }
    chunk.push(row)
    size += bytes
  }
  if (chunk.length > 0) yield chunk
}

/** @typedef {(row: number) => [name: Buffer, value: Buffer]|null} Cell  of a column; null where its value is missing */

/** @param {Cell[]} cells @param {number} row */
function cellsAt (cells, row) {
  const found = []
  for (const cell of cells) {
    const its = cell(row)
    if (its) found.push(its)
  }
  return found
}

/** @param {import('../wide.js').PlacedColumn} column @param {Batch} batch @returns {Cell} */
function cellOf (column, batch) {
  const name = Buffer.from(FAMILY + column.name)
  const { encode } = kinds[column.kind]
  return cellsIn(column, batch, value => [name, encode(value)], null)
}
