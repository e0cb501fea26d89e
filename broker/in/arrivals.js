import { peekIdentity, recognises } from '../../gateway/messages/codecs/arrow/arrow.js'
import { identityKey } from '../../gateway/batch/batch.js'
import { hashOf } from '../../gateway/batch/hashes.js'
import { isName } from '../../gateway/batch/names.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { clashOf } from './clash.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./contract.js').Packet} Packet
 * @typedef {import('./stream.js').Stream} Stream
 *
 * @typedef {object} ArrivalsOptions
 * @property {import('./streams.js').Streams} streams
 * @property {import('./reader-sinks.js').ReaderSinks} sinks
 * @property {import('./held-deliveries.js').HeldDeliveries} held
 * @property {import('./resend-requests.js').ResendRequests} requests
 * @property {import('./keeper.js').Keeper} keeper
 * @property {import('./contract.js').Sharing} members
 * @property {import('../client.js').BrokerClient} client
 * @property {(packet: Packet) => Batch} decode
 * @property {(packet: Packet) => Promise<void>} onThirdParty
 * @property {(packet: Packet, reason: unknown) => Promise<void>} onRefused
 * @property {(gateway: string, source?: string) => boolean} isMeant
 * @property {() => void} onMissing  something is to be requested
 * @property {(kind: 'batch', gateway: string, packet: Packet, reason: unknown) => void} onIgnored
 * @property {import('../../gateway/base/log.js').Log} log
 */

/** What a consumer does with each batch that comes: it is held for the sinks, or acknowledged at once, and counted either way. */
export class Arrivals {
  counters = {
    received: 0, duplicates: 0, clashes: 0, overflow: 0, redelivered: 0, resent: 0, replaced: 0, refused: 0, thirdParty: 0
  }

  #options

  /** @param {ArrivalsOptions} options */
  constructor (options) {
    this.#options = options
  }

  /**
   * @param {Packet} packet
   * @param {() => void} ack
   * @param {string} gateway  whose topic it is
   * @param {string} [source]  likewise; undefined of what was resent
   */
  receive (packet, ack, gateway, source) {
    const identity = identityOf(packet.payload)
    if (!identity && source !== undefined) {
      this.counters.thirdParty++
      this.#options.keeper.keep(packet, ack, () => this.#options.onThirdParty(packet))
      return
    }
    const isOfTopic = identity?.gateway === gateway && (source === undefined || identity.source === source)
    if (identity && isOfTopic && !this.#options.members.has(gateway, identity.source)) { // it was requested when the source was its own
      ack()
      return
    }
    if (!identity || !isOfTopic || !this.#options.isMeant(gateway, identity.source)) {
      this.#refuse(packet, ack, new SluiceError('SLUICE_PROTOCOL', 'Its identity is not that of its topic.'))
      return
    }
    if (![gateway, identity.source, identity.epoch].every(isName)) { // in a commit record, a database could refuse it again and again
      this.#refuse(packet, ack, new SluiceError('SLUICE_PROTOCOL', 'Its identity has a name with NUL or half a surrogate pair.'))
      return
    }
    try {
      this.#options.streams.check(gateway, identity.source)
    } catch (error) {
      this.#options.onIgnored('batch', gateway, packet, error)
      ack()
      return
    }
    this.#take(packet, ack, identity, source !== undefined)
  }

  /** @param {Packet} packet @param {() => void} ack @param {Identity} identity @param {boolean} isInOrder  false: it was resent */
  #take (packet, ack, identity, isInOrder) {
    const { counters } = this
    const { streams, held, requests, client } = this.#options
    counters.received++
    const { epoch, seq, gateway } = identity
    const stream = streams.get(gateway, identity.source)
    stream.lastDataMs = performance.now()
    if (isInOrder) {
      if (stream.observe(epoch, seq)) this.#options.onMissing()
    } else {
      counters.resent++
      requests.came(gateway)
    }
    const id = `${client.options.clientId}:${identityKey(identity)}` // two stage ins may hold the same batch
    if (held.redelivered(id, ack)) {
      counters.redelivered++
    } else if (held.sinks.length > 0 && held.sinks.every(sink => stream.storedBy(sink).has(epoch, seq))) {
      this.#onStored(stream, { ...identity, hash: hashOf(packet.payload) })
      ack()
    } else if (stream.isParked(epoch, seq)) {
      ack()
    } else if (stream.isReplaced(epoch, seq)) {
      counters.replaced++ // its rows come under another identity
      ack()
    } else if (stream.defer(identity)) {
      counters.overflow++ // the same rows twice in one transaction, and neither would know of the other
      ack()
    } else if (held.sinks.length === 0 || !held.hasRoom(packet.payload.length)) {
      counters.overflow++ // safe to acknowledge: the spool has it until it is stored, and it will be found missing
      requests.overflowed(stream, epoch, seq)
      this.#options.onMissing()
      ack()
    } else this.#hold(id, packet, ack, identity, stream)
  }

  /** All sinks have a record of it: this batch, or another that has its identity. @param {Stream} stream @param {Identity} identity */
  #onStored (stream, identity) {
    this.#options.sinks.sent(stream.gateway)
    const clash = this.#options.held.sinks.find(sink => (stream.storedBy(sink).hashOf(identity) ?? identity.hash) !== identity.hash)
    if (clash === undefined) {
      this.counters.duplicates++
      return
    }
    this.counters.clashes++
    this.#options.log.error(describe(clashOf(this.#options.sinks.labelOf(clash), identity)))
  }

  /** @param {string} id @param {Packet} packet @param {() => void} ack @param {Identity} identity @param {Stream} stream */
  #hold (id, packet, ack, identity, stream) {
    let batch
    try {
      const decoded = this.#options.decode(packet)
      batch = decoded.withIdentity({ ...identity, rows: decoded.rows, hash: hashOf(packet.payload) })
    } catch (error) {
      stream.park(identity.epoch, identity.seq, 0) // it would come again, as broken
      this.#refuse(packet, ack, error)
      return
    }
    this.#options.held.hold(id, batch, stream, { bytes: packet.payload.length, ack })
  }

  /** @param {Packet} packet @param {() => void} ack @param {unknown} reason */
  #refuse (packet, ack, reason) {
    this.counters.refused++
    this.#options.keeper.keep(packet, ack, () => this.#options.onRefused(packet, reason))
  }
}

/** Null of a third-party message, broken ones included. @param {Buffer} payload */
function identityOf (payload) {
  try {
    return recognises(payload) ? peekIdentity(payload) : null
  } catch {
    return null
  }
}
