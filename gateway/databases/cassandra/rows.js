import { floor } from '../../batch/layouts.js'
import { bytesOf } from '../reading/values.js'
import { timestampsOf } from '../upsert/timestamps.js'
import { keyOf } from '../upsert/sql.js'
import { cellsIn, constantOf, valuesOf } from '../wide.js'
import { timestamp } from './dialect.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {import('./write.js').Statement} Statement
 */

/** What is written at a time. A server takes up to half a segment of its commit log, which is 32 MiB unless it is set. */
const CHUNK_ROWS = 1000
const CHUNK_BYTES = 256 * 1024

const NS_PER_MS = 1_000_000n

/** A row's times and id, as the server has them: 8 bytes each of the times, 16 of the batch, 4 of the row's number in it. */
const [NS_AT, ID_AT, ROW_AT, KEY_BYTES] = [8, 16, 32, 36]

/**
 * The rows of arranged batches as statements, in chunks each of which is in one partition.
 * @param {import('./tables.js').Plan} plan
 * @param {Batch[]} batches
 * @param {(batch: Batch) => Buffer} keyOfBatch
 * @param {string} [query]
 * @returns {Generator<Statement[], void, void>}
 */
export function * rowChunks ({ insert, columns, bucketNs }, batches, keyOfBatch, query = insert) {
  /** @type {Map<string, {statements: Statement[], bytes: number}>} by partition */
  const chunks = new Map()
  const isShared = columns.some(({ origin }) => origin === 'source')
  const inTable = columns.filter(({ origin }) => origin !== 'time')
  for (const batch of batches) {
    const batchKey = keyOfBatch(batch)
    const cells = inTable.map(column => cellOf(column, batch))
    const texts = inTable.flatMap(column => textsOf(column, batch))
    let [from, to, partition] = [1n, 0n, '']
    /** @type {Buffer} */
    let bucket = Buffer.alloc(0)
    for (let row = 0; row < batch.rows; row++) {
      const time = batch.time[row]
      if (time < from || time >= to) {
        from = floor(time, bucketNs)
        to = from + bucketNs
        bucket = Buffer.alloc(8)
        bucket.writeBigInt64BE(from / NS_PER_MS)
        partition = `${from} ${isShared ? batch.source : ''}`
      }
      let bytes = KEY_BYTES + cells.length * 8
      for (const values of texts) bytes += values[row]?.length ?? 0
      let chunk = chunks.get(partition)
      if (chunk && (chunk.statements.length === CHUNK_ROWS || chunk.bytes + bytes > CHUNK_BYTES)) {
        yield chunk.statements
        chunk = undefined
      }
      if (!chunk) chunks.set(partition, chunk = { statements: [], bytes: 0 })
      const key = Buffer.allocUnsafe(KEY_BYTES)
      key.writeBigInt64BE(time >= 0n ? time / NS_PER_MS : floor(time, NS_PER_MS) / NS_PER_MS)
      key.writeBigInt64BE(time, NS_AT)
      batchKey.copy(key, ID_AT)
      key.writeUInt32BE(batch.rowNumber(row), ROW_AT)
      const params = [bucket, key.subarray(ID_AT), key.subarray(0, NS_AT), key.subarray(NS_AT, ID_AT)]
      for (const cell of cells) params.push(cell(row))
      chunk.statements.push({ query, params })
      chunk.bytes += bytes
    }
  }
  for (const { statements } of chunks.values()) yield statements
}

/**
 * Rows that take the place of older ones with their key, whole: what is there is removed up to the timestamp before, in one write.
 * @param {import('./tables.js').Plan} plan
 * @param {Batch[]} batches  arranged
 * @param {number} beganMs  see `timestampsOf`
 * @returns {Generator<Statement[], void, void>}
 */
export function * upsertChunks ({ insert, remove = '', columns }, batches, beganMs) {
  for (const batch of batches) {
    const timestamps = timestampsOf(batch, beganMs)
    const cells = columns.map(column => cellOf(column, batch))
    const key = keyOf(columns).map(column => cells[columns.indexOf(column)])
    for (const [row, at] of timestamps.entries()) {
      yield [
        { query: remove, params: [at - 1n, ...key.map(cell => cell(row))] },
        { query: insert, params: [...cells.map(cell => cell(row)), at] }
      ]
    }
  }
}

/** How the driver takes values of each type. @type {Record<string, (value: any) => any>} */
const VALUES = { time: timestamp, bool: value => value === 1, bytes: bytesOf }

/** Those of a column; what is missing stays unset. @param {PlacedColumn} column @param {Batch} batch @returns {(row: number) => any} */
const cellOf = (column, batch) => cellsIn(column, batch, VALUES[column.type] ?? (value => value), undefined)

/** What of a column may be long. @param {PlacedColumn} column @param {Batch} batch @returns {(string|Uint8Array|undefined)[][]} */
function textsOf (column, batch) {
  if (constantOf(column, batch) !== undefined) return []
  const { values } = valuesOf(column, batch)
  return Array.isArray(values) ? [values] : []
}
