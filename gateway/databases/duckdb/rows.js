import { quote } from '../names.js'
import { constantOf, valuesOf } from '../wide.js'
import { dialect, WAITING } from './tables.js'

/**
 * Appends rows within the session's transaction, column by column.
 * @param {import('./instance.js').Session} session
 * @param {import('./tables.js').Plan} plan
 * @param {import('../../batch/batch.js').Batch[]} batches  arranged
 */
export async function appendRows ({ connection, run, duckdb, bindings }, { table, columns, upsert }, batches) {
  const names = columns.map(({ name }) => quote(name)).join(', ')
  let appender = await connection.createAppender(table)
  // While the file is open, columns are only ever added: as many are the same ones.
  const fillsAll = appender.columnCount === columns.length && upsert === undefined
  if (!fillsAll) {
    await run(`CREATE TEMP TABLE ${quote(WAITING)} AS SELECT ${names} FROM ${quote(table)} LIMIT 0`)
    appender = await connection.createAppender(WAITING)
  }
  // What the values are in memory; DuckDB casts them to what the columns are.
  const memory = /** @type {any} */ ({ ...duckdb, JSON: duckdb.VARCHAR })
  const types = columns.map(({ type, kind }) => memory[type === 'time' ? kind : dialect.columnTypes[type]])
  const size = bindings.vector_size()
  try {
    for (const batch of batches) {
      for (let from = 0; from < batch.rows; from += size) {
        const rows = Math.min(size, batch.rows - from)
        const chunk = duckdb.DuckDBDataChunk.create(types, rows)
        columns.forEach((column, i) => fill(bindings, bindings.data_chunk_get_vector(chunk.chunk, i), column, batch, from, rows))
        appender.appendDataChunk(chunk)
      }
    }
    appender.closeSync()
  } catch (error) {
    appender.clear() // otherwise it would append the rest when it is garbage, in whatever transaction there is then
    throw error
  }
  const insert = upsert ?? `INSERT INTO ${quote(table)} (${names}) FROM ${quote(WAITING)}`
  if (!fillsAll) await run(`${insert}; DROP TABLE ${quote(WAITING)}`)
}

/**
 * @param {typeof import('@duckdb/node-bindings')} bindings
 * @param {import('@duckdb/node-bindings').Vector} vector
 * @param {import('../wide.js').PlacedColumn} column
 * @param {import('../../batch/batch.js').Batch} batch
 * @param {number} from @param {number} rows
 */
function fill (bindings, vector, column, batch, from, rows) {
  const constant = constantOf(column, batch)
  if (constant !== undefined) return bindings.vector_reference_value(vector, bindings.create_varchar(constant))
  const { values, valid } = column.origin === 'time' ? { values: batch.time, valid: null } : valuesOf(column, batch)
  if (ArrayBuffer.isView(values)) {
    const { buffer, byteOffset, BYTES_PER_ELEMENT: bytes } = values
    bindings.copy_data_to_vector(vector, 0, /** @type {ArrayBuffer} */ (buffer), byteOffset + from * bytes, rows * bytes)
  } else {
    for (let i = 0; i < rows; i++) {
      const value = values[from + i]
      if (valid?.[from + i] === 0) continue
      if (typeof value === 'string') bindings.vector_assign_string_element(vector, i, value)
      else bindings.vector_assign_string_element_len(vector, i, value)
    }
  }
  if (!valid) return
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8)
  for (let i = 0; i < rows; i++) bits[i >> 3] |= valid[from + i] << (i & 7)
  bindings.vector_ensure_validity_writable(vector)
  bindings.copy_data_to_vector_validity(vector, 0, bits.buffer, 0, bits.length)
}
