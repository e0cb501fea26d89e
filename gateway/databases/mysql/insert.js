import { SluiceError } from '../../base/errors.js'
import { constantOf, valuesOf } from '../wide.js'
import { quote } from './dialect.js'
import { onDuplicate } from './upsert.js'

/**
 * Rows by INSERT of many at a time: upserts, and all rows for servers that do not allow LOAD DATA LOCAL.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {import('mysql2').ResultSetHeader} Result
 */

/** Beyond this, longer statements are no faster. */
const STATEMENT_BYTES = 512 * 1024

/** What a statement's packet holds besides its text, generously. */
const PACKET_OVERHEAD = 1024

/**
 * @param {Connection} connection
 * @param {Plan} plan
 * @param {Batch[]} batches  arranged, of one shape
 * @param {number} maxPacketBytes
 * @returns {AsyncGenerator<Result, void, void>} of each statement
 * @throws {SluiceError} SLUICE_SINK_ROWS where a row is too long for the server
 */
export async function * insertRows (connection, plan, batches, maxPacketBytes) {
  for (const sql of insertStatements(plan, batches, maxPacketBytes - PACKET_OVERHEAD)) {
    const [result] = await connection.query(sql)
    yield /** @type {Result} */ (result)
  }
}

/**
 * @param {Plan} plan
 * @param {Batch[]} batches
 * @param {number} maxPacket  bytes of a statement
 * @returns {Generator<string, void, void>}
 */
function * insertStatements (plan, batches, maxPacket) {
  const { table, columns } = plan
  const head = `INSERT INTO ${quote(table)} (${columns.map(({ name }) => quote(name)).join(', ')}) VALUES `
  const end = onDuplicate(plan)
  const maxBytes = maxPacket - Buffer.byteLength(end)
  // A character takes up to three bytes (one of four is two for JavaScript).
  const goal = Math.min(STATEMENT_BYTES, Math.floor(maxBytes / 3))
  let sql = head
  for (const batch of batches) {
    const cells = columns.map(column => literal(column, batch))
    for (let row = 0; row < batch.rows; row++) {
      let values = '('
      for (let c = 0; c < cells.length; c++) values += c === 0 ? cells[c](row) : `,${cells[c](row)}`
      if (values.length > goal && Buffer.byteLength(head) + Buffer.byteLength(values) + 1 > maxBytes) throw tooLong(table, maxBytes)
      if (sql.length > head.length && sql.length + values.length > goal) {
        yield sql + end
        sql = head
      }
      sql += sql.length === head.length ? `${values})` : `,${values})`
    }
  }
  if (sql.length > head.length) yield sql + end
}

/** @param {string} table @param {number} maxBytes */
function tooLong (table, maxBytes) {
  const problem = `A row for table "${table}" is longer than the ${maxBytes} bytes that the server accepts in a statement.`
  return new SluiceError('SLUICE_SINK_ROWS', problem, {
    fix: 'Raise the server\'s max_allowed_packet, or allow LOAD DATA LOCAL by its local_infile=1.'
  })
}

/** @param {PlacedColumn} column @param {Batch} batch @returns {(row: number) => string} */
function literal (column, batch) {
  const { type } = column
  if (type === 'time') return row => datetime(batch.time[row])
  if (type === 'time_ns') return row => String(batch.time[row])
  const constant = constantOf(column, batch)
  if (constant !== undefined) {
    const text = string(constant)
    return () => text
  }
  const { type: fieldType, values, valid } = valuesOf(column, batch)
  const value = valueLiteral(fieldType, values)
  return valid ? row => valid[row] === 0 ? 'NULL' : value(row) : value
}

/** @param {import('../../batch/batch.js').FieldType} type @param {any} column @returns {(row: number) => string} */
function valueLiteral (type, column) {
  switch (type) {
    case 'float64':
    case 'float32': return row => double(column[row])
    case 'string': return row => string(column[row])
    case 'bytes': return row => `X'${Buffer.from(column[row].buffer, column[row].byteOffset, column[row].length).toString('hex')}'`
    default: return row => String(column[row])
  }
}

/**
 * An exponent makes it a double: without one it would be a decimal of limited length. NaN becomes NULL, as MySQL has no other value for it.
 * @param {number} value
 */
function double (value) {
  if (Number.isNaN(value)) return 'NULL'
  const text = String(value)
  return text.includes('e') ? text : `${text}e0`
}

/** Backslashes escape in the sessions that this is sent in. @param {string} value */
function string (value) {
  return `'${value.replace(/['\\]/g, '$&$&')}'`
}

/** Date and time in UTC, rounded down to microseconds. @param {bigint} time */
function datetime (time) {
  const milliseconds = time / 1_000_000n - (time % 1_000_000n < 0n ? 1n : 0n)
  const microseconds = String((time - milliseconds * 1_000_000n) / 1000n).padStart(3, '0')
  return `'${new Date(Number(milliseconds)).toISOString().slice(0, -1).replace('T', ' ')}${microseconds}'`
}
