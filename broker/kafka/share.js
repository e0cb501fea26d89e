import { gatewayTopics } from '../topics.js'
import { partitionOf } from './topics.js'

/**
 * @typedef {import('../control-messages.js').SinkList} SinkList
 * @typedef {import('../in/contract.js').Sharing} Sharing
 */

const MAX_OTHERS = 1000

/**
 * Which sources a reader reads where the members of a consumer group of Kafka share them: those whose partitions the group has assigned to
 * it. While that changes two may believe that a source is theirs; the commit records of the database decide which of them stores a batch.
 *
 * @implements {Sharing}
 */
export class Share {
  areSeveral = false
  place = undefined
  /** @type {Set<number>} */
  #partitions = new Set()
  #all = 0
  /** The sinks of other readers of the group. @type {Map<string, SinkList>} */
  #others = new Map()
  /** @type {Set<() => void>} */
  #listeners = new Set()

  /** These have been assigned. @param {number[]} partitions @param {number} all  how many there are */
  assigned (partitions, all) {
    this.#partitions = new Set(partitions)
    this.#all = all
    for (const listener of this.#listeners) listener()
  }

  /** @param {string} gateway @param {string} [source] */
  has (gateway, source) {
    if (source === undefined) return true
    return this.#all > 0 && this.#partitions.has(partitionOf(gatewayTopics(gateway).data(source), this.#all))
  }

  /** @param {() => void} listener */
  onMoved (listener) {
    this.#listeners.add(listener)
    return () => { this.#listeners.delete(listener) }
  }

  connected () { this.#others.clear() }

  /** @param {string} reader @param {SinkList|null} list */
  heard (reader, list) {
    this.#others.delete(reader)
    if (list && this.#others.size < MAX_OTHERS) this.#others.set(reader, list)
  }

  /**
   * A sink that another member lacks gets nothing of what comes to that one.
   * @param {string[]} sinks @param {string} gateway @param {string} source
   */
  flawOf (sinks, gateway, source) {
    const others = [...this.#others.values()].filter(other => other.gateway === gateway && other.source === source)
    const lacking = sinks.find(own => others.some(other => !other.sinks.some(({ sink }) => sink === own)))
    return lacking === undefined ? '' : `a member has no sink "${lacking}"`
  }
}
