import { hash } from 'node:crypto'

/**
 * Which gateways a reader reads where several of one consumer group share them. Each gateway has a weight at every member, and the greatest
 * decides (rendezvous hashing): with one member more, it takes over its part and nothing else moves.
 *
 * Members need not know of each other: while some count three and others still two, two of them may read the same gateway, and the commit
 * records of their database decide which one stores a batch; a gateway that nobody reads waits in its spool.
 */
export class Members {
  /** @type {Map<string, boolean>} */
  #known = new Map()
  #member
  #members

  /** @param {number} member  1 … members @param {number} members */
  constructor (member, members) {
    this.#member = member
    this.#members = members
  }

  /** Whether there are others to share with. */
  get areSeveral () { return this.#members > 1 }

  /** Whether this member is to read it. @param {string} gateway */
  has (gateway) {
    if (!this.areSeveral) return true
    let isMine = this.#known.get(gateway)
    if (isMine !== undefined) return isMine
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(gateway, isMine = memberOf(gateway, this.#members) === this.#member)
    return isMine
  }
}

const MAX_KNOWN = 10_000

/** @param {string} gateway @param {number} members @returns {number} 1 … members */
export function memberOf (gateway, members) {
  const weights = Array.from({ length: members }, (_, i) => hash('sha256', `${i + 1}/${gateway}`))
  return weights.indexOf(weights.reduce((most, weight) => weight > most ? weight : most)) + 1
}
