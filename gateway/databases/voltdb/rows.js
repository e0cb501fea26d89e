import { SluiceError } from '../../base/errors.js'
import { least, refuseUnfit, rowsWhere } from '../unfit.js'
import { constantOf, valuesOf } from '../wide.js'
import { NULL_FLOAT, Table, TYPE } from './protocol.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{name: string, partition: Buffer, table: Table}} Chunk  `name`: of the table that it goes to
 * @typedef {{bytes: Buffer, view: DataView}} Target  the same memory twice: numbers are written much faster by a view
 * @typedef {(target: Target, at: number, row: number) => number} Writer  returns where the next cell begins
 * @typedef {{write: Writer, size: number, sizeOf?: (row: number) => number}} Cells  of a column; `sizeOf`: what the value of a row adds
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
  const fixed = cells.reduce((sum, { size }) => sum + size, 4)
  const varying = cells.flatMap(({ sizeOf }) => sizeOf ?? [])
  for (let from = 0; from < batch.rows;) {
    let to = from
    let size = 0
    for (; to < batch.rows && to - from < CHUNK_ROWS; to++) {
      let length = fixed
      for (const sizeOf of varying) length += sizeOf(to)
      if (length > MAX_ROW_BYTES) throw tooLong(length)
      if (to > from && size + length > CHUNK_BYTES) break
      size += length
    }
    const bytes = Buffer.allocUnsafe(size)
    const view = new DataView(bytes.buffer, bytes.byteOffset, size)
    const target = { bytes, view }
    let at = 0
    for (let row = from; row < to; row++) {
      const start = at
      at += 4
      for (let c = 0; c < cells.length; c++) at = cells[c].write(target, at, row)
      view.setInt32(start, at - start - 4)
    }
    yield { name, partition: key, table: new Table(columns, to - from, bytes) }
    from = to
  }
}

/** @param {import('./tables.js').PlanColumn} column @param {Batch} batch @param {Buffer} key @returns {Cells} */
function cellsOf ({ name, type, placed }, batch, key) {
  if (name === 'sluice_batch') return constantCells(key)
  if (name === 'sluice_row') return numberCells(type, Int32Array.from({ length: batch.rows }, (_, row) => batch.rowNumber(row)), null)
  if (name === 'time_ns') return numberCells(type, batch.time, null)
  if (!placed) return isText(type) ? constantCells(null) : numberCells(type, [], new Uint8Array(batch.rows))
  const constant = constantOf(placed, batch)
  if (constant !== undefined) return constantCells(Buffer.from(constant))
  const { values, valid } = valuesOf(placed, batch)
  if (!isText(type)) return numberCells(type, /** @type {any} */ (values), valid)
  return textCells(/** @type {(string|Uint8Array)[]} */ (values), valid)
}

/** @param {number} type */
const isText = type => type === TYPE.varchar || type === TYPE.varbinary

/** @param {Uint8Array|null} value  after its length; null is NULL @returns {Cells} */
function constantCells (value) {
  const bytes = Buffer.alloc(4 + (value?.length ?? 0))
  bytes.writeInt32BE(value?.length ?? -1)
  if (value) bytes.set(value, 4)
  return {
    size: bytes.length,
    write (target, at) {
      target.bytes.set(bytes, at)
      return at + bytes.length
    }
  }
}

/** @param {(string|Uint8Array)[]} values @param {Uint8Array|null} valid @returns {Cells} */
function textCells (values, valid) {
  const sizeOf = (/** @type {number} */ row) => valid?.[row] === 0 ? 0 : Buffer.byteLength(values[row])
  return {
    size: 4,
    sizeOf,
    write ({ bytes, view }, at, row) {
      const value = values[row]
      if (valid?.[row] === 0) view.setInt32(at, -1)
      else if (typeof value === 'string') view.setInt32(at, bytes.write(value, at + 4))
      else {
        view.setInt32(at, value.length)
        bytes.set(value, at + 4)
      }
      return at + 4 + Math.max(0, view.getInt32(at))
    }
  }
}

/**
 * How the numbers of each type are written; NULL is the least of them. No field is stored in a DECIMAL.
 * @typedef {{size: number, put: (view: DataView, at: number, value: any) => void, least: number|bigint}} NumberType
 */
const NUMBERS = new Map(/** @type {[number, NumberType][]} */ ([
  [TYPE.tinyint, { size: 1, put: (view, at, value) => view.setInt8(at, value), least: -128 }],
  [TYPE.smallint, { size: 2, put: (view, at, value) => view.setInt16(at, value), least: -32768 }],
  [TYPE.integer, { size: 4, put: (view, at, value) => view.setInt32(at, value), least: -(2 ** 31) }],
  [TYPE.bigint, { size: 8, put: putWhole, least: LEAST }],
  [TYPE.timestamp, { size: 8, put: putWhole, least: LEAST }],
  [TYPE.float, { size: 8, put: (view, at, value) => view.setFloat64(at, value), least: -Number.MAX_VALUE }],
  [TYPE.decimal, { size: 16, put: putNoDecimal, least: LEAST }]
]))

/** @param {DataView} view @param {number} at @param {number|bigint} value */
function putWhole (view, at, value) {
  if (typeof value === 'bigint') return view.setBigInt64(at, value)
  view.setInt32(at, Math.floor(value / 2 ** 32))
  view.setUint32(at + 4, value)
}

/** @param {DataView} view @param {number} at @param {bigint} high */
function putNoDecimal (view, at, high) {
  view.setBigInt64(at, high)
  view.setBigInt64(at + 8, 0n)
}

/** @param {number} type @param {ArrayLike<any>} values @param {Uint8Array|null} valid @returns {Cells} */
function numberCells (type, values, valid) {
  const { size, put, least: nothing } = /** @type {NumberType} */ (NUMBERS.get(type))
  return {
    size,
    write ({ view }, at, row) {
      put(view, at, valid?.[row] === 0 ? nothing : values[row])
      return at + size
    }
  }
}

/** @type {import('../unfit.js').Unfit} */
const leastFloat = column => rowsWhere(column, value => value <= NULL_FLOAT)

/** Values that would be NULL, and times that a key cannot have. @param {Batch[]} batches */
export const checkRows = batches =>
  refuseUnfit(batches, { product: 'VoltDB', fields: { float64: leastFloat, float32: leastFloat, int64: least }, times: least })

/** @param {number} bytes */
function tooLong (bytes) {
  return new SluiceError('SLUICE_SINK_ROWS', `A row has ${bytes} bytes, of which VoltDB allows ${MAX_ROW_BYTES}.`)
}
