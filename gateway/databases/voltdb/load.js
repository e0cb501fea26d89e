import { isRefused } from './connection.js'
import { TYPE } from './protocol.js'

/**
 * The server's own procedure of bulk loading: in one transaction it puts rows into one partition of a table.
 *
 * @typedef {import('./connection.js').Session} Session
 */

/**
 * @param {Session} session
 * @param {string} name  of the table
 * @param {Uint8Array} partition  what all rows have in the column that the table is partitioned by
 * @param {import('./protocol.js').Table} table
 * @param {{isNew: boolean, signal?: AbortSignal}} how  `isNew`: rows take no other's place
 * @returns {Promise<boolean>} false, and none is stored, where they are to be new and one has the key of another
 */
export async function load (session, name, partition, table, { isNew, signal }) {
  try {
    await session.call('@LoadSinglepartitionTable', [partition, name, isNew ? 0 : 1, table], signal)
    return true
  } catch (error) {
    if (isNew && isRefused(error, /Constraint Type UNIQUE/i)) return false
    throw error
  }
}

/** A row of few, after its length. @param {{type: number}[]} columns @param {(string|number|Uint8Array)[]} cells */
export function rowBytes (columns, cells) {
  const parts = cells.map((cell, i) => {
    if (columns[i].type === TYPE.bigint) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64BE(BigInt(/** @type {number} */ (cell)))
      return bytes
    }
    const text = Buffer.from(/** @type {string} */ (cell))
    const bytes = Buffer.alloc(4 + text.length)
    bytes.writeInt32BE(text.length)
    text.copy(bytes, 4)
    return bytes
  })
  const length = Buffer.alloc(4)
  length.writeInt32BE(parts.reduce((sum, part) => sum + part.length, 0))
  return Buffer.concat([length, ...parts])
}
