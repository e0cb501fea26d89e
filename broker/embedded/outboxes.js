import { Readable } from 'node:stream'
import { Outbox, messageOf } from './outbox.js'

/** @typedef {import('../../gateway/base/log.js').Log} Log */

/**
 * How messages reach the subscribers, in place of each Aedes client's own `deliver0` and `deliverQoS` and of the outgoing half of
 * Aedes's persistence.
 */
export class Outboxes {
  /** By client id. @type {Map<string, Outbox>} */
  #outboxes = new Map()
  /** How to send to a connected client. @type {WeakMap<object, import('./outbox.js').Send>} */
  #sends = new WeakMap()
  /** Ids of the clients whose messages are being dropped. @type {Set<string>} */
  #overflowing = new Set()
  #droppedMessages = 0
  #droppedBytes = 0
  #maxQueuedBytes
  #mayRead
  #log

  /**
   * @param {any} broker  Aedes, the parts used here that its types leave out included
   * @param {object} options
   * @param {number} options.maxQueuedBytes
   * @param {((clientId: string, topic: string) => boolean)|null} options.mayRead  null: everybody everything
   * @param {Log|undefined} options.log
   */
  constructor (broker, { maxQueuedBytes, mayRead, log }) {
    this.#maxQueuedBytes = maxQueuedBytes
    this.#mayRead = mayRead ?? (() => true)
    this.#log = log
    this.#takeOverPersistence(broker.persistence)
    broker.on('clientReady', (/** @type {any} */ client) => this.#outboxOf(client.id).open(this.#sendOf(client)))
    broker.on('clientDisconnect', (/** @type {any} */ client) => {
      const wasIts = this.#outboxes.get(client.id)?.suspend(this.#sendOf(client))
      if (wasIts && client.clean) this.#forget(client.id)
    })
  }

  /** Of the clients, those included that are away and have a session. */
  get count () { return this.#outboxes.size }

  /** @param {string} id */
  has (id) { return this.#outboxes.has(id) }

  /** Only the totals: what is queued now, what was dropped since the start. */
  stats () {
    const outboxes = [...this.#outboxes.values()]
    return {
      queuedMessages: outboxes.reduce((sum, { messages }) => sum + messages, 0),
      queuedBytes: outboxes.reduce((sum, { bytes }) => sum + bytes, 0),
      droppedMessages: this.#droppedMessages,
      droppedBytes: this.#droppedBytes
    }
  }

  /**
   * Makes a client that has just come deliver by its outbox. Nothing here waits for a socket, so that no publisher does.
   * @param {any} client
   */
  adopt (client) {
    const { deliver0, deliverQoS } = client

    client.deliver0 = (/** @type {any} */ packet, /** @type {() => void} */ done) => {
      if (!this.#mayRead(client.id, packet.topic)) return void setImmediate(done)
      const hasRoom = client.conn.writableLength + packet.payload.length <= this.#maxQueuedBytes
      if (hasRoom) deliver0.call(client, undated(packet), noop)
      else this.#countDropped(client.id, packet.payload.length)
      setImmediate(done)
    }
    client.deliverQoS = (/** @type {any} */ packet, /** @type {() => void} */ done) => {
      if (packet.qos === 0) return client.deliver0(packet, done)
      if (!this.#mayRead(client.id, packet.topic)) return void setImmediate(done)
      const isQueuedAlready = !client.clean && !packet.retain
      if (!isQueuedAlready) this.#add(client.id, messageOf(packet))
      setImmediate(done)
    }
    this.#sends.set(client, (message, messageId, dup) => {
      deliverQoS.call(client, undated({ ...message, cmd: 'publish', qos: 1, messageId, dup }), noop)
    })
  }

  /** @param {any} persistence */
  #takeOverPersistence (persistence) {
    const cleanSubscriptions = persistence.cleanSubscriptions.bind(persistence)
    const incomingStorePacket = persistence.incomingStorePacket.bind(persistence)
    Object.assign(persistence, {
      cleanSubscriptions: (/** @type {{id: string}} */ client) => {
        this.#forget(client.id)
        return cleanSubscriptions(client)
      },
      outgoingEnqueueCombi: async (/** @type {{clientId: string}[]} */ subscriptions, /** @type {any} */ packet) => {
        const ids = new Set(subscriptions.map(({ clientId }) => clientId).filter(id => this.#mayRead(id, packet.topic)))
        if (ids.size === 0) return
        const message = messageOf({ ...packet, retain: false })
        for (const id of ids) this.#add(id, message)
      },
      // Of a message at QoS 2, which goes out at once, only the number is needed: to know when it comes again.
      incomingStorePacket: (/** @type {object} */ client, /** @type {{messageId: number}} */ { messageId }) => {
        return incomingStorePacket(client, { messageId })
      },
      outgoingUpdate: async () => {},
      outgoingClearMessageId: async (/** @type {{id: string}} */ client, /** @type {{messageId: number}} */ { messageId }) => {
        this.#outboxes.get(client.id)?.acknowledge(messageId)
      },
      outgoingStream: () => Readable.from([])
    })
  }

  /** @param {object} client */
  #sendOf (client) { return /** @type {import('./outbox.js').Send} */ (this.#sends.get(client)) }

  /** @param {string} id */
  #outboxOf (id) {
    const outbox = this.#outboxes.get(id) ?? new Outbox(this.#maxQueuedBytes)
    this.#outboxes.set(id, outbox)
    return outbox
  }

  /** @param {string} id @param {import('./outbox.js').Message} message */
  #add (id, message) {
    const outbox = this.#outboxOf(id)
    if (!outbox.add(message)) this.#countDropped(id, message.payload.length)
    else if (outbox.bytes < this.#maxQueuedBytes / 2) this.#overflowing.delete(id)
  }

  /** @param {string} id @param {number} bytes */
  #countDropped (id, bytes) {
    this.#droppedMessages++
    this.#droppedBytes += bytes
    if (this.#overflowing.has(id)) return
    this.#overflowing.add(id)
    this.#log?.warn(`Embedded broker: the queue for client ${id} is full (${this.#maxQueuedBytes} bytes), messages for it are dropped. ` +
      'A sink requests them from the spool later.')
  }

  /** @param {string} id */
  #forget (id) {
    this.#outboxes.delete(id)
    this.#overflowing.delete(id)
  }
}

/**
 * Without its number among the broker's packets: Aedes leaves out a packet that a later one has overtaken, as a QoS 0 message and a
 * retained one may be.
 * @param {any} packet
 */
function undated (packet) {
  return { ...packet, brokerId: null, brokerCounter: 0 }
}

function noop () {}
