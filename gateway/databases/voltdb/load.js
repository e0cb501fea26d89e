import { isRefused } from './connection.js'

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
