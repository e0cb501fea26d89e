import { SluiceError } from '../../base/errors.js'
import { RefusedRows } from '../refusal.js'
import { constantOf, valuesOf } from '../wide.js'
import { NULL_FLOAT, Table, TYPE } from './protocol.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{name: string, partition: Buffer, table: Table}} Chunk  `name`: of the table that it goes to
 * @typedef {(bytes: Buffer, at: number, row: number) => number} Writer  returns where the next cell begins
 * @typedef {(bytes: Buffer, value: any, at: number) => number} Put
 * @typedef {{write: Writer, size: (row: number) => number}} Cells  of a column
 */

/** What is written in one call, which is one transaction: the partition does nothing else meanwhile. */
const CHUNK_ROWS = 2000
const CHUNK_BYTES = 256 * 1024

/** More than a row may have. */
const MAX_ROW_BYTES = 2_097_152

const LEAST = -(2n ** 63n)

/**
 * @param {{plan: import('./tables.js').Plan, arranged: Batch}[]} places
 * @param {import('../keyed/batch-keys.js').BatchKeys} keys
 * @returns {Generator<Chunk, void, void>}
 */
export function * rowChunks (places, keys) {
  for (const { plan, arranged } of places) yield * chunksOf(plan, arranged, keys.of(arranged))
}

/**
 * @param {import('./tables.js').Plan} plan
 * @param {Batch} batch  arranged
 * @param {Buffer} key  of the batch
 * @returns {Generator<Chunk, void, void>}
 */
function * chunksOf ({ table: name, columns }, batch, key) {
  const cells = columns.map(column => cellsOf(column, batch, key))
  for (let from = 0; from < batch.rows;) {
    let to = from
    let size = 0
    for (; to < batch.rows && to - from < CHUNK_ROWS; to++) {
      const bytes = cells.reduce((sum, cell) => sum + cell.size(to), 4)
      if (bytes > MAX_ROW_BYTES) throw tooLong(bytes)
      if (to > from && size + bytes > CHUNK_BYTES) break
      size += bytes
    }
    const bytes = Buffer.allocUnsafe(size)
    let at = 0
    for (let row = from; row < to; row++) {
      const start = at
      at += 4
      for (const { write } of cells) at = write(bytes, at, row)
      bytes.writeInt32BE(at - start - 4, start)
    }
    yield { name, partition: key, table: new Table(columns, to - from, bytes) }
    from = to
  }
}

/** @param {import('./tables.js').PlanColumn} column @param {Batch} batch @param {Buffer} key @returns {Cells} */
function cellsOf ({ name, type, placed }, batch, key) {
  if (name === 'sluice_batch') return bytesCells(() => key)
  if (name === 'sluice_row') return fixedCells(TYPE.integer, row => batch.rowNumber(row), null)
  if (name === 'time_ns') return fixedCells(TYPE.bigint, row => batch.time[row], null)
  if (!placed) return isText(type) ? bytesCells(() => null) : fixedCells(type, () => 0, new Uint8Array(batch.rows))
  const constant = constantOf(placed, batch)
  if (constant !== undefined) {
    const bytes = Buffer.from(constant)
    return bytesCells(() => bytes)
  }
  const { values, valid } = valuesOf(placed, batch)
  if (!isText(type)) return fixedCells(type, row => values[row], valid)
  const its = /** @type {(string|Uint8Array)[]} */ (values)
  return bytesCells(row => {
    if (valid?.[row] === 0) return null
    const value = its[row]
    return typeof value === 'string' ? Buffer.from(value) : value
  })
}

/** @param {number} type */
const isText = type => type === TYPE.varchar || type === TYPE.varbinary

/** @param {(row: number) => Uint8Array|null} valueOf @returns {Cells} */
function bytesCells (valueOf) {
  /** Of the row that was asked for last: its size is wanted first. */
  let [last, value] = [-1, /** @type {Uint8Array|null} */ (null)]
  return {
    size (row) {
      [last, value] = [row, valueOf(row)]
      return 4 + (value?.length ?? 0)
    },
    write (bytes, at, row) {
      const its = last === row ? value : valueOf(row)
      bytes.writeInt32BE(its?.length ?? -1, at)
      if (its) bytes.set(its, at + 4)
      return at + 4 + (its?.length ?? 0)
    }
  }
}

/** How values of each type are written; NULL is the least of them. @type {Map<number, {size: number, least: any, put: Put}>} */
const FIXED = new Map([
  [TYPE.tinyint, { size: 1, least: -128, put: (bytes, value, at) => bytes.writeInt8(value, at) }],
  [TYPE.smallint, { size: 2, least: -32768, put: (bytes, value, at) => bytes.writeInt16BE(value, at) }],
  [TYPE.integer, { size: 4, least: -(2 ** 31), put: (bytes, value, at) => bytes.writeInt32BE(value, at) }],
  [TYPE.bigint, { size: 8, least: LEAST, put: (bytes, value, at) => bytes.writeBigInt64BE(BigInt(value), at) }],
  [TYPE.timestamp, { size: 8, least: LEAST, put: (bytes, value, at) => bytes.writeBigInt64BE(BigInt(value), at) }],
  [TYPE.float, { size: 8, least: -Number.MAX_VALUE, put: (bytes, value, at) => bytes.writeDoubleBE(value, at) }],
  // No field is stored in one.
  [TYPE.decimal, { size: 16, least: -128, put: (bytes, value, at) => bytes.fill(0, at, at + 16).writeInt8(value, at) + 15 }]
])

/** @param {number} type @param {(row: number) => any} valueOf @param {Uint8Array|null} valid @returns {Cells} */
function fixedCells (type, valueOf, valid) {
  const { size, least, put } = /** @type {{size: number, least: any, put: Put}} */ (FIXED.get(type))
  return { size: () => size, write: (bytes, at, row) => put(bytes, valid?.[row] === 0 ? least : valueOf(row), at) }
}

/**
 * Values that would be NULL, and times that a key cannot have.
 * @param {Batch[]} batches
 * @throws {RefusedRows}
 */
export function checkRows (batches) {
  const faults = batches.flatMap(batch => {
    /** @type {Map<number, SluiceError>} */
    const byRow = new Map()
    const refuse = (/** @type {number} */ row, /** @type {string} */ what) => {
      byRow.set(row, new SluiceError('SLUICE_SINK_ROWS', `${what}, which VoltDB cannot hold.`))
    }
    batch.fields.forEach(({ name, type }, f) => {
      const column = /** @type {ArrayLike<any>} */ (batch.columns[f])
      const isNull = type === 'int64' ? (/** @type {any} */ value) => value === LEAST : (/** @type {any} */ value) => value <= NULL_FLOAT
      if (type !== 'int64' && type !== 'float64' && type !== 'float32') return
      for (let row = 0; row < batch.rows; row++) {
        if (isNull(column[row]) && batch.validity[f]?.[row] !== 0) refuse(row, `The field "${name}" is ${column[row]}`)
      }
    })
    for (let row = 0; row < batch.rows; row++) if (batch.time[row] === LEAST) refuse(row, `The time is ${LEAST}`)
    return Array.from(byRow, ([row, error]) => ({ batch, row, error }))
  })
  if (faults.length > 0) throw new RefusedRows(faults)
}

/** @param {number} bytes */
function tooLong (bytes) {
  return new SluiceError('SLUICE_SINK_ROWS', `A row has ${bytes} bytes, of which VoltDB allows ${MAX_ROW_BYTES}.`)
}
