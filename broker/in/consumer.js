import { EventEmitter } from 'node:events'
import { peekIdentity, recognises } from '../../gateway/messages/codecs/arrow/arrow.js'
import { identityKey } from '../../gateway/batch/batch.js'
import { describe } from '../../gateway/base/errors.js'
import { level, parseTopic, ROOT, topicsOf } from '../topics.js'
import { CommitNotes } from './commit-notes.js'
import { HeldDeliveries } from './held-deliveries.js'
import { Keeper } from './keeper.js'
import { ReadySinks } from './ready-sinks.js'
import { ResendRequests } from './resend-requests.js'
import { readHead } from './stream.js'
import { Streams } from './streams.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./contract.js').Packet} Packet
 * @typedef {import('./stream.js').Stream} Stream
 *
 * @typedef {object} ConsumerOptions
 * @property {import('mqtt').MqttClient} client  with a fixed id, a persistent session and deferred acknowledgements
 * @property {string[]} sinks  names of the sinks that must settle each delivery
 * @property {import('./contract.js').Sinks} registry
 * @property {import('./contract.js').Deliveries} deliveries
 * @property {(delivery: import('./contract.js').Delivery) => void} emit  into the flow
 * @property {(packet: Packet) => Batch} decode  of a batch with identity; throws on what is broken
 * @property {(packet: Packet) => Promise<void>} onThirdParty  a message without identity on one of our topics: resolves once it is spooled
 * @property {(packet: Packet, reason: unknown) => Promise<void>} onRefused  a broken message: resolves once it is kept
 * @property {string} [gateway]  name of the gateway to read, `+` (the default) of all
 * @property {string} [source]  likewise of the source
 * @property {number} [window]  messages held at once
 * @property {number} [windowBytes]
 * @property {number} [overdueMs]  a delivery that no sink has anything of for so long is emitted again
 * @property {number} [attempts]  after so many it is parked
 * @property {number} [quietMs]  a source that sends nothing for so long has sent all that its spool has
 * @property {import('../../gateway/base/log.js').Log} [log]
 */

const TICK_MS = 250
const COMPACT_MS = 60_000

/**
 * Receives batches for sinks and acknowledges each to the broker once every sink's database has committed it. The broker may lose, repeat
 * and reorder: what the databases have decides what is a duplicate, and what the spools have decides what is missing and requested again.
 *
 * A batch comes in by `receive`, is held (`HeldDeliveries`) and goes into the flow once all its sinks are ready (`ReadySinks`); the sinks
 * settle it, and it is acknowledged. What is stored is noted for the spools (`CommitNotes`).
 *
 * Event: `changed` (see `state`).
 */
export class Consumer extends EventEmitter {
  #ready
  #streams
  #held
  #keeper
  #resendRequests = new ResendRequests()
  #commitNotes = new CommitNotes()
  #connected = false
  #subscribed = false
  #closed = false
  #compactedMs = performance.now()
  #timer
  #received = { received: 0, duplicates: 0, overflow: 0, redelivered: 0, resent: 0, refused: 0, thirdParty: 0 }

  /** @param {ConsumerOptions} options */
  constructor (options) {
    super()
    const defaults = { gateway: '+', source: '+', window: 100, windowBytes: 2 ** 26, overdueMs: 30_000, attempts: 3, quietMs: 3000 }
    this.options = { ...defaults, log: console, ...options }
    const { client, registry, sinks, log } = this.options
    this.#ready = new ReadySinks({
      names: sinks,
      registry,
      log,
      onCommitted: (sink, committed) => this.#onCommitted(sink, committed),
      onChange: () => {
        this.#held.emitWaiting()
        this.emit('changed')
      }
    })
    this.#streams = new Streams(this.#ready)
    this.#held = new HeldDeliveries(this.#ready, { ...this.options, onStored: (stream, sink) => this.#commitNotes.add(stream, sink) })
    this.#keeper = new Keeper(client, log)
    client.on('connect', this.#onConnect)
    client.on('close', this.#onClose)
    if (client.connected) this.#onConnect()
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  get counters () { return { ...this.#received, ...this.#held.counters } }

  get state () {
    return {
      connected: this.#connected,
      waitingFor: this.#ready.missing,
      held: this.#held.size,
      heldBytes: this.#held.bytes,
      ...this.#streams.lost(this.options.sinks),
      ...this.counters
    }
  }

  /**
   * Every message from the broker comes here; it is acknowledged by calling `ack`.
   * @param {Packet} packet
   * @param {() => void} ack
   */
  receive (packet, ack) {
    if (this.#closed) return
    const about = parseTopic(packet.topic)
    if (!about || !this.#isMeant(about)) {
      ack()
      return
    }
    if (about.kind === 'head') {
      this.#onHead(about.gateway, about.source, packet.payload)
      ack()
      return
    }
    const identity = identityOf(packet.payload)
    if (identity) {
      this.#onBatch(packet, ack, identity, about.kind === 'data')
      return
    }
    this.#received.thirdParty++
    this.#keeper.keep(packet, ack, () => this.options.onThirdParty(packet))
  }

  /** What the flow has under way may be lost, by no fault of its own. */
  doubt () { this.#held.doubt() }

  /** What only another attempt can bring goes into the flow again. */
  emitWaiting () { this.#held.emitWaiting() }

  /** Stops at once; what is not settled stays unacknowledged and comes again. The client is its owner's to end. */
  close () {
    this.#closed = true
    clearInterval(this.#timer)
    this.#publishCommits()
    const { client } = this.options
    this.#ready.close()
    this.#keeper.close()
    client.off('connect', this.#onConnect)
    client.off('close', this.#onClose)
    this.#held.close()
  }

  /** A session outlives a deploy and still brings what an earlier one subscribed to. @param {import('../topics.js').TopicParts} about */
  #isMeant (about) {
    const { gateway, source } = this.options
    const isData = about.kind === 'data' || about.kind === 'head' || about.kind === 'replayData'
    return isData && [about.gateway, '+'].includes(gateway) && [about.source, '+'].includes(source)
  }

  /** @param {Packet} packet @param {() => void} ack @param {Identity} identity @param {boolean} isInOrder  false: it was resent */
  #onBatch (packet, ack, identity, isInOrder) {
    const counters = this.#received
    counters.received++
    const { epoch, seq } = identity
    const stream = this.#streams.get(identity.gateway, identity.source)
    stream.lastDataMs = performance.now()
    if (isInOrder) stream.observe(epoch, seq)
    else counters.resent++

    const id = `${this.options.client.options.clientId}:${identityKey(identity)}` // two stage ins may hold the same batch
    if (this.#held.redelivered(id, ack)) {
      counters.redelivered++
    } else if (this.options.sinks.every(sink => stream.isStored(sink, epoch, seq))) {
      counters.duplicates++
      this.#noteAll(stream) // its spool does not know that it is stored
      ack()
    } else if (stream.isParked(epoch, seq)) {
      ack()
    } else if (!this.#held.hasRoom(packet.payload.length)) {
      counters.overflow++ // safe to acknowledge: the spool has it until it is stored, and it will be found missing
      ack()
    } else {
      this.#hold(id, packet, ack, identity, stream)
    }
  }

  /** @param {string} id @param {Packet} packet @param {() => void} ack @param {Identity} identity @param {Stream} stream */
  #hold (id, packet, ack, identity, stream) {
    let batch
    try {
      batch = this.options.decode(packet).withIdentity(identity)
    } catch (error) {
      this.#received.refused++
      this.#keeper.keep(packet, ack, () => this.options.onRefused(packet, error))
      return
    }
    this.#held.hold(id, batch, stream, { bytes: packet.payload.length, ack })
  }

  /** @param {string} gateway @param {string} source @param {Buffer} payload */
  #onHead (gateway, source, payload) {
    if (payload.length === 0) return
    let head
    try {
      head = readHead(payload)
    } catch (error) {
      this.options.log.warn(`Ignored the head of ${gateway}/${source}: ${describe(error)}`)
      return
    }
    const stream = this.#streams.get(gateway, source)
    const isFirst = !stream.headKnown
    if (stream.setHead(head)) this.#noteAll(stream)
    if (isFirst) this.#publishCommits() // at once: until it hears of a sink, a spool does not wait for it
    for (const { name } of isFirst ? this.#ready : []) this.#warnOfShortfall(stream, name)
  }

  /** @param {string} sink @param {import('../../gateway/databases/sink.js').Committed[]} committed */
  #onCommitted (sink, committed) {
    this.#streams.setStored(sink, committed)
    for (const stream of this.#streams) {
      this.#commitNotes.add(stream, sink)
      this.#warnOfShortfall(stream, sink)
    }
    this.#held.recorded(sink)
  }

  /** @param {Stream} stream @param {string} sink */
  #warnOfShortfall (stream, sink) {
    const { shortfall } = stream.lost(sink)
    if (shortfall === 0) return
    this.options.log.warn(`Sink "${sink}" begins late with ${stream.source}: ${shortfall} earlier batches are no longer in the spool.`)
  }

  #onConnect = () => {
    this.#connected = true
    this.#resendRequests.clear()
    this.#streams.connected()
    this.#subscribe()
  }

  #onClose = () => {
    this.#connected = this.#subscribed = false
    this.#held.dropAcks() // and not on connecting: on a session that goes on, messages come before MQTT.js emits `connect`
    this.emit('changed')
  }

  /**
   * At once, so that the spools wait for its sinks; what comes is held until each of those has reported what it has stored, and
   * duplicates are recognised.
   */
  #subscribe () {
    const { client, sinks, gateway, source, log } = this.options
    if (this.#subscribed || this.#closed || !client.connected) return
    this.#subscribed = true
    const base = `${ROOT}/${filterOf(gateway)}/${filterOf(source)}`
    const topics = [`${base}/head`, `${base}/data`, `${base}/replay/${level(sinks[0])}/data`]
    client.subscribe(topics, { qos: 1 }, (error, granted) => {
      const refused = granted?.filter(({ qos }) => qos >= 128).map(({ topic }) => topic) ?? []
      if ((!error && refused.length === 0) || !client.connected) return
      log.error(`The broker refuses the subscription to ${refused.join(', ') || topics.join(', ')}${error ? `: ${describe(error)}` : ''}`)
    })
    for (const stream of this.#streams) this.#noteAll(stream)
    this.#publishCommits()
    this.emit('changed')
  }

  #tick () {
    this.#publishCommits()
    this.#held.emitOverdue()
    if (this.#subscribed && this.#ready.areAll) this.#requestMissing()
    if (performance.now() - this.#compactedMs > COMPACT_MS) this.#compact()
    this.emit('changed')
  }

  /** Requests from the spools what some sink lacks, no more than there is room for. */
  #requestMissing () {
    const { window, quietMs, sinks, client } = this.options
    for (const stream of this.#streams) {
      const room = window - this.#held.unacknowledged
      if (room < window / 4) return
      const quiet = performance.now() - stream.lastDataMs > quietMs && this.#held.unacknowledged < window / 2
      const epochs = this.#resendRequests.next(`${stream.gateway}/${stream.source}`, stream.missing(sinks, { limit: room, quiet }))
      if (epochs) client.publish(topicsOf(stream.gateway, stream.source).replay(sinks[0]), JSON.stringify({ epochs }), { qos: 1 })
    }
  }

  #compact () {
    this.#compactedMs = performance.now()
    const heads = this.#streams.heads()
    for (const handle of this.#ready) {
      handle.compact(heads).catch(error => {
        this.options.log.warn(`Sink "${handle.name}" could not compact its commit records: ${describe(error)}`)
      })
    }
  }

  /** @param {Stream} stream */
  #noteAll (stream) {
    for (const sink of this.options.sinks) this.#commitNotes.add(stream, sink)
  }

  #publishCommits () {
    if (this.#subscribed) this.#commitNotes.publish(this.options.client, sink => this.#ready.has(sink))
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

/** @param {string} name  or `+` */
function filterOf (name) {
  return name === '+' ? name : level(name)
}
