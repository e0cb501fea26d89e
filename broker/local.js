import { EventEmitter } from 'node:events'

/**
 * @typedef {object} LocalCommit  what a reading of a sink's database has of a gateway's batches, as the topic `commit` says it to others
 * @property {string} consumer
 * @property {string} sink
 * @property {string} gateway
 * @property {import('./control-messages.js').Commit} commit
 * @property {Outcomes} [outcomes]
 *
 * @typedef {[before: number|null, dead: number, settled: number]} Outcome  rows of a source before the first that a sink's database has,
 *   null where it has none; and of those that it has, dead letters, and those that a flow has settled
 * @typedef {Record<string, Record<string, Outcome>>} Outcomes  by source and mark of the spool, which cannot tell them from stored ones
 *
 * @typedef {object} LocalReader  a stage in of this process that hears a spool of it: both are on one broker, by whatever addresses
 * @property {string} spool
 * @property {string} reader  id of its node
 */

/** @template Message  between the two halves of the staging in this process */
class Channel {
  #events = new EventEmitter().setMaxListeners(0)

  /** @param {Message} message */
  publish (message) {
    this.#events.emit('message', message)
  }

  /** @param {(message: Message) => void} listener @returns {() => void} stops listening */
  on (listener) {
    this.#events.on('message', listener)
    return () => { this.#events.off('message', listener) }
  }
}

/**
 * The way of commits from the sinks of this process to its spools, on whatever broker: what goes over one under the own gateway's name is
 * refused, since anybody there could say it.
 * @type {Channel<LocalCommit>}
 */
export const localCommits = new Channel()

/** @type {Channel<LocalReader>} */
export const localReaders = new Channel()
