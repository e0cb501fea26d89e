import { knownId, newId, sum } from './records.js'

/**
 * What the database has to hold of one client's ids. A key belongs to one source, so no two clients have an id in common: as in a stream
 * that is partitioned by key.
 *
 * @typedef {import('./records.js').Prepared} Prepared
 * @typedef {import('../../../databases/reader.js').KeyedRow} KeyedRow
 */
export class Ledger {
  /** how many new ids have been stored */
  made = 0
  #prepared
  #client
  #clients
  #numbers
  #times

  /**
   * @param {Prepared} prepared
   * @param {{ids: number, client: number, clients: number}} share  of the fixed set of so many ids, every `clients`-th
   */
  constructor (prepared, { ids, client, clients }) {
    this.#prepared = prepared
    this.#client = client
    this.#clients = clients
    this.known = Math.max(0, Math.ceil((ids - client) / clients))
    this.#times = new Uint32Array(this.known)
    this.#numbers = [Int32Array, Int32Array, Int32Array, Float64Array, Float64Array, Float64Array].map(Type => new Type(this.known))
  }

  /** Of the fixed set, by its place among this client's. @param {number} place */
  id (place) {
    return knownId(place * this.#clients + this.#client)
  }

  /** @param {number} n */
  newId (n) {
    return newId(this.#client, n)
  }

  /** How often a record has been stored. @param {number} place */
  times (place) {
    return this.#times[place]
  }

  /** It is stored. @param {number} place @param {number[]} numbers */
  stored (place, numbers) {
    this.#times[place]++
    this.#numbers.forEach((column, i) => { column[place] = numbers[i] })
  }

  /** What a read must return. @param {number} place @returns {import('./records.js').Record} */
  expected (place) {
    return {
      id: this.id(place), numbers: this.#numbers.map(column => column[place]), blob: this.#prepared.blob(this.#times[place])
    }
  }

  /** A new record, which is stored once. @param {number} n @returns {import('./records.js').Record} */
  fresh (n) {
    return { id: this.newId(n), numbers: this.#prepared.signal(n), blob: this.#prepared.blob(1) }
  }

  /** A record after its next change. @param {number} place @param {number[]} before @param {number} n  of the signal */
  changed (place, before, n) {
    return { id: this.id(place), numbers: sum(before, this.#prepared.signal(n)), blob: this.#prepared.blob(this.#times[place] + 1) }
  }
}
