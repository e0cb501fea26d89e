import { retryWhile } from '../../gateway/base/backoff.js'
import { describe } from '../../gateway/base/errors.js'

/** @typedef {import('./contract.js').Packet} Packet */

/**
 * Acknowledges messages that are not deliveries, once they are kept elsewhere. That is tried as long as their connection lasts: the broker
 * gets its acknowledgements in order, so one that never came would block all that follow.
 */
export class Keeper {
  #client
  #log
  #closed = false
  /** How many connections have ended. */
  #ended = 0

  /** @param {import('../client.js').BrokerClient} client @param {import('../../gateway/base/log.js').Log} log */
  constructor (client, log) {
    this.#client = client
    this.#log = log
    client.on('close', this.#onClose)
  }

  /**
   * @param {Packet} packet
   * @param {() => void} ack
   * @param {() => Promise<void>} keep  called again after it has failed
   * @returns {Promise<void>} once it is kept, or given up: then the broker sends it again
   */
  keep (packet, ack, keep) {
    const ended = this.#ended
    return retryWhile(() => !this.#closed && (this.#ended === ended || packet.qos === 0), async () => {
      await keep()
      ack()
    }, error => this.#log.error(`A message on ${packet.topic} cannot be kept, and stays with the broker: ${describe(error)}`))
  }

  close () {
    this.#closed = true
    this.#client.off('close', this.#onClose)
  }

  #onClose = () => { this.#ended++ }
}
