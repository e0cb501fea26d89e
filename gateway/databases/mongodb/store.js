import { SluiceError } from '../../base/errors.js'
import { pickOf } from '../../batch/batch.js'
import { RefusedRows } from '../refusal.js'
import { Chunks } from './chunks.js'
import { insert, WRITE_CONCERN } from './insert.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./chunks.js').Encoded} Encoded
 * @typedef {import('mongodb').Db} Db
 */

/** Stores the documents of batches, each row whole or not at all. */
export class Store {
  /** @type {Chunks[]} of which each is used by one write at a time */
  #idle = []
  /** @type {WeakMap<Batch, Set<number>>} by whole batch, the numbers of rows that were stored while others were refused */
  #stored = new WeakMap()

  /** What is still to be stored of a batch: after some of its rows were refused, the others are written again. @param {Batch} batch */
  restOf (batch) {
    const stored = this.#stored.get(batch.origin?.whole ?? batch)
    return stored ? pickOf(batch, Array.from(batch.time.keys()).filter(row => !stored.has(batch.rowNumber(row)))) : batch
  }

  /**
   * @param {Db} db
   * @param {string} collection
   * @param {Encoded[]} all
   * @param {AbortSignal} [signal]
   * @throws {RefusedRows}
   */
  async write (db, collection, all, signal) {
    /** @type {Map<Encoded, Map<number, unknown>>} why, by row */
    const refused = new Map()
    const refuse = (/** @type {Encoded} */ source, /** @type {readonly number[]} */ rows, /** @type {unknown} */ error) => {
      const reasons = refused.get(source) ?? new Map()
      for (const row of rows) reasons.set(row, error)
      refused.set(source, reasons)
    }
    const chunks = this.#idle.pop() ?? new Chunks()
    for (const message of chunks.messages(all)) {
      for (const { encoded, i, error } of await insert(db, collection, message, signal)) refuse(encoded, encoded.documents.rowsOf(i), error)
    }
    this.#idle.push(chunks)
    for (const encoded of all) {
      for (const { rows, reason } of encoded.documents.refused) refuse(encoded, rows, new SluiceError('SLUICE_SINK_ROWS', `${reason}.`))
    }
    if (refused.size === 0) return
    for (const encoded of all) await this.#keepWholeRows(db, collection, encoded, refused.get(encoded) ?? new Map())
    throw new RefusedRows([...refused].flatMap(([encoded, reasons]) => faultsOf(encoded, reasons)))
  }

  /** @param {Db} db @param {string} collection @param {Encoded} encoded @param {Map<number, unknown>} refused  rows */
  async #keepWholeRows (db, collection, { rest, documents }, refused) {
    /** @type {Set<number>} */
    const stored = this.#stored.get(rest.origin?.whole ?? rest) ?? new Set()
    /** @type {any[]} */
    const parts = []
    for (let i = 0; i < documents.length; i++) {
      const rows = documents.rowsOf(i)
      if (rows.some(row => refused.has(row))) parts.push(documents.idOf(i))
      else for (const row of rows) stored.add(rest.rowNumber(row))
    }
    // A narrow row's other values; nothing else of the refused rows is stored.
    if (parts.length > refused.size) await db.collection(collection).deleteMany({ _id: { $in: parts } }, { writeConcern: WRITE_CONCERN })
    this.#stored.set(rest.origin?.whole ?? rest, stored)
  }
}

/** @param {Encoded} encoded @param {Map<number, unknown>} reasons  by row of the rest */
function faultsOf ({ batch, rest }, reasons) {
  const rowOf = new Map(Array.from(batch.time.keys(), row => [batch.rowNumber(row), row]))
  return [...reasons].map(([row, error]) => ({ batch, row: /** @type {number} */ (rowOf.get(rest.rowNumber(row))), error }))
}
