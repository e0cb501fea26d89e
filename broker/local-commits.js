import { EventEmitter } from 'node:events'

/**
 * @typedef {object} LocalCommit  what a reading of a sink's database has of a gateway's batches, as the topic `commit` says it to others
 * @property {string} broker  what names the broker in this process: commits answer the heads that were heard there
 * @property {string} consumer
 * @property {string} sink
 * @property {string} gateway
 * @property {import('./control-messages.js').Commit} commit
 */

/**
 * The way of commits from the sinks of this process to its spools: what goes over the broker under the own gateway's name is refused, since
 * anybody there could say it.
 */
export class LocalCommits {
  #events = new EventEmitter().setMaxListeners(0)

  /** @param {LocalCommit} message */
  publish (message) {
    this.#events.emit(`at ${message.broker}`, message)
  }

  /** @param {string} broker @param {(message: LocalCommit) => void} listener @returns {() => void} stops listening */
  on (broker, listener) {
    this.#events.on(`at ${broker}`, listener)
    return () => { this.#events.off(`at ${broker}`, listener) }
  }
}

export const localCommits = new LocalCommits()
