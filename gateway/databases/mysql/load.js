import { Readable } from 'node:stream'
import { cellWriter } from './cells.js'
import { quote } from './dialect.js'

/**
 * Rows by LOAD DATA LOCAL INFILE, from memory.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./tables.js').Plan} Plan
 */

const CHUNK_BYTES = 128 * 1024

const TAB = 9
const NEWLINE = 10

/** The name that the server asks for. It is not a file: nothing is ever read from the disk. */
const FILE = 'sluice rows'

/**
 * @param {Connection} connection
 * @param {Plan} plan
 * @param {Batch[]} batches  arranged, of one shape
 * @returns {Promise<import('mysql2').ResultSetHeader>}
 */
export async function loadRows (connection, plan, batches) {
  const rows = Readable.from(encodedRows(plan, batches), { objectMode: false, highWaterMark: CHUNK_BYTES })
  rows.on('error', () => {}) // it is reported by the statement
  try {
    const [result] = await connection.query({
      sql: loadStatement(plan),
      infileStreamFactory (name) {
        return name === FILE ? rows : rows.destroy(new Error(`The server asks for the file "${name}", which nobody has offered it.`))
      }
    })
    return /** @type {import('mysql2').ResultSetHeader} */ (result)
  } finally {
    rows.destroy()
  }
}

/** @param {Plan} plan */
function loadStatement ({ table, columns }) {
  const targets = columns.map(({ name, type }, i) => type === 'bytes' ? `@bytes${i}` : quote(name))
  const decoded = columns.flatMap(({ name, type }, i) => type === 'bytes' ? `${quote(name)} = UNHEX(@bytes${i})` : [])
  return `LOAD DATA LOCAL INFILE '${FILE}' INTO TABLE ${quote(table)} ` +
    `CHARACTER SET utf8mb4 FIELDS TERMINATED BY 0x09 ESCAPED BY 0x5C LINES TERMINATED BY 0x0A (${targets.join(', ')})` +
    (decoded.length > 0 ? ` SET ${decoded.join(', ')}` : '')
}

/**
 * @param {Plan} plan
 * @param {Batch[]} batches
 * @returns {Generator<Buffer, void, void>}
 */
export function * encodedRows ({ columns }, batches) {
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  let at = 0
  for (const batch of batches) {
    const writers = columns.map(column => cellWriter(column, batch))
    const cells = writers.map(({ write }) => write)
    const fixedBytes = writers.reduce((sum, writer) => sum + writer.fixedBytes + 1, 0)
    const varying = writers.flatMap(({ varyingBytes }) => varyingBytes ?? [])
    for (let row = 0; row < batch.rows; row++) {
      let needed = fixedBytes
      for (const varyingBytes of varying) needed += varyingBytes(row)
      if (at + needed > chunk.length) {
        yield * pieces(chunk.subarray(0, at))
        chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, needed))
        at = 0
      }
      for (let c = 0; c < cells.length; c++) {
        at = cells[c](chunk, at, row)
        chunk[at++] = TAB
      }
      chunk[at - 1] = NEWLINE
    }
  }
  yield * pieces(chunk.subarray(0, at))
}

/** No packet is larger than the smallest that servers are set to accept. @param {Buffer} bytes */
function * pieces (bytes) {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) yield bytes.subarray(from, from + CHUNK_BYTES)
}
