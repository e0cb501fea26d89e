import { messageOf, sizeOf } from './outbox.js'

/** @typedef {import('../../gateway/base/log.js').Log} Log */

const NOTHING = Buffer.alloc(0)

/**
 * Bounds what each user has the broker retain. What is beyond reaches who is there and is not retained, nor what was retained on that
 * topic: it would be out of date.
 */
export class Retained {
  /** By topic. @type {Map<string, {owner: string, bytes: number}>} */
  #kept = new Map()
  /** What each has retained. @type {Map<string, number>} */
  #bytes = new Map()
  /** @type {Set<string>} */
  #overflowing = new Set()
  #maxBytes
  #log

  /**
   * @param {any} broker  Aedes, the parts used here that its types leave out included
   * @param {object} options
   * @param {number} options.maxBytes
   * @param {(clientId: string) => string} options.ownerOf
   * @param {Log|undefined} options.log
   */
  constructor (broker, { maxBytes, ownerOf, log }) {
    this.#maxBytes = maxBytes
    this.#log = log
    const { persistence } = broker
    const authorizePublish = broker.authorizePublish.bind(broker)
    const storeRetained = persistence.storeRetained.bind(persistence)
    broker.authorizePublish = (/** @type {any} */ client, /** @type {any} */ packet, /** @type {(error: any) => void} */ answer) => {
      packet.clientId = client?.id // Aedes sets it only after the packet is retained
      authorizePublish(client, packet, answer)
    }
    persistence.storeRetained = (/** @type {any} */ packet) => {
      const message = messageOf(packet)
      const isKept = this.#keep(message, ownerOf(packet.clientId ?? ''))
      return storeRetained({ ...packet, payload: isKept ? message.payload : NOTHING })
    }
  }

  /** @param {import('./outbox.js').Message} message @param {string} owner @returns {boolean} false when it is empty, or has no room */
  #keep (message, owner) {
    const before = this.#kept.get(message.topic)
    if (before) this.#count(before.owner, -before.bytes)
    this.#kept.delete(message.topic)
    if (message.payload.length === 0) return false
    const bytes = sizeOf(message)
    if ((this.#bytes.get(owner) ?? 0) + bytes > this.#maxBytes) return this.#refuse(owner)
    this.#kept.set(message.topic, { owner, bytes })
    this.#count(owner, bytes)
    return true
  }

  /** @param {string} owner @param {number} bytes */
  #count (owner, bytes) {
    const sum = (this.#bytes.get(owner) ?? 0) + bytes
    this.#bytes.set(owner, sum)
    if (sum < this.#maxBytes / 2) this.#overflowing.delete(owner)
  }

  /** @param {string} owner */
  #refuse (owner) {
    if (!this.#overflowing.has(owner)) {
      this.#log?.warn(`Embedded broker: ${owner ? `user ${owner} has` : 'clients have'} as much retained as there is room for ` +
        `(${this.#maxBytes} bytes): what comes on top is passed on and not retained.`)
    }
    this.#overflowing.add(owner)
    return false
  }
}
