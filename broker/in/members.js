import { hash } from 'node:crypto'

const MAX_KNOWN = 10_000
const MAX_OTHERS = 1000

/**
 * @typedef {import('../control-messages.js').SinkList} SinkList
 * @typedef {import('./contract.js').Sharing} Sharing
 */

/**
 * Which gateways a reader reads where several of one consumer group share them. Each gateway has a weight at every member, and the greatest
 * decides (rendezvous hashing): with one member more, it takes over its part and nothing else moves.
 *
 * Members need not know of each other: while some count three and others still two, two of them may read the same gateway, and the commit
 * records of their database decide which one stores a batch; a gateway that nobody reads waits in its spool.
 *
 * @implements {Sharing}
 */
export class Members {
  /** @type {Map<string, boolean>} */
  #known = new Map()
  /** The lists of other readers of the group. @type {Map<string, SinkList>} */
  #others = new Map()
  #member
  #members

  /** @param {number} member  1 … members @param {number} members */
  constructor (member, members) {
    this.#member = member
    this.#members = members
  }

  /** Whether there are others to share with. */
  get areSeveral () { return this.#members > 1 }

  /** As the list of its sinks says; undefined where it reads all. @returns {[member: number, members: number]|undefined} */
  get place () { return this.areSeveral ? [this.#member, this.#members] : undefined }

  /**
   * What the user should know: that gateways have no reader, or two; '' where all is well.
   * @param {string[]} sinks  of this member: the members that list a sink are those that share it
   * @param {string} gateway  that this member reads, as in its list: who reads another one, or another source, shares nothing with it
   * @param {string} source
   */
  flawOf (sinks, gateway, source) {
    const others = [...this.#others.values()].filter(other => other.gateway === gateway && other.source === source)
    const flaws = sinks.map(own => this.#flawBeside(others.filter(other => other.sinks.some(({ sink }) => sink === own))))
    const worst = flaws.findIndex(flaw => flaw !== '')
    if (worst === -1) return ''
    return flaws.every(flaw => flaw === flaws[worst]) ? flaws[worst] : `${flaws[worst]} for sink "${sinks[worst]}"`
  }

  /** What the broker retains comes again; one that has lost its disk retains nothing. */
  connected () { this.#others.clear() }

  /**
   * The list of another reader of the group; it is retained, so it counts also while that reader is away.
   * @param {string} reader
   * @param {SinkList|null} list  null: it is gone
   */
  heard (reader, list) {
    this.#others.delete(reader)
    if (list && this.#others.size < MAX_OTHERS) this.#others.set(reader, list)
  }

  /** What another member is to read is another's for good. */
  onMoved () { return () => {} }

  /** Whether this member is to read it. @param {string} gateway */
  has (gateway) {
    if (!this.areSeveral) return true
    let isMine = this.#known.get(gateway)
    if (isMine !== undefined) return isMine
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(gateway, isMine = memberOf(gateway, this.#members) === this.#member)
    return isMine
  }

  /** @param {SinkList[]} others  that have the same sink */
  #flawBeside (others) {
    const places = others.map(({ member }) => member ?? [1, 1])
    const other = places.find(([, members]) => members !== this.#members)
    if (other) return `member ${this.#member} of ${this.#members} beside ${other[0]} of ${other[1]}`
    if (!this.areSeveral) return '' // several may read all
    const numbers = [this.#member, ...places.map(([member]) => member)]
    const double = numbers.find((number, i) => numbers.indexOf(number) < i)
    if (double) return `two are member ${double}`
    const missing = Array.from({ length: this.#members }, (_, i) => i + 1).find(number => !numbers.includes(number))
    return missing ? `there is no member ${missing} of ${this.#members}` : ''
  }
}

/** @param {string} gateway @param {number} members @returns {number} 1 … members */
export function memberOf (gateway, members) {
  const weights = Array.from({ length: members }, (_, i) => hash('sha256', `${i + 1}/${gateway}`))
  return weights.indexOf(weights.reduce((most, weight) => weight > most ? weight : most)) + 1
}
