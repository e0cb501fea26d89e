import { EventEmitter } from 'node:events'
import { peekIdentity, recognises } from '../../gateway/messages/codecs/arrow/arrow.js'
import { identityKey } from '../../gateway/batch/batch.js'
import { describe } from '../../gateway/base/errors.js'
import { again } from '../../gateway/base/backoff.js'
import { ResendRequests } from './resend-requests.js'
import { CommitNotes } from './commit-notes.js'
import { ReadySinks } from './ready-sinks.js'
import { readHead, Stream } from './stream.js'
import { level, parseTopic, ROOT, topicsOf } from '../topics.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./contract.js').SinkHandle} SinkHandle
 * @typedef {import('./contract.js').Delivery} Delivery
 * @typedef {{topic: string, payload: Buffer, properties?: {contentType?: string}}} Packet
 *
 * @typedef {object} Held  a delivery and what acknowledges it
 * @property {Delivery} delivery
 * @property {Stream} stream
 * @property {number} bytes
 * @property {(() => void)[]} acks  one for each time the broker sent it
 * @property {boolean} emitted
 *
 * @typedef {object} ConsumerOptions
 * @property {import('mqtt').MqttClient} client  with a fixed id, a persistent session and deferred acknowledgements
 * @property {string[]} sinks  names of the sinks that must settle each delivery
 * @property {import('./contract.js').Sinks} registry
 * @property {import('./contract.js').Deliveries} deliveries
 * @property {(delivery: Delivery) => void} emit  into the flow
 * @property {(packet: Packet) => Batch} decode  of a batch with identity; throws on what is broken
 * @property {(packet: Packet) => Promise<void>} onThirdParty  a message without identity on one of our topics: resolves once it is spooled
 * @property {(packet: Packet, reason: unknown) => Promise<void>} onRefused  a broken message: resolves once it is kept
 * @property {string} [gateway]  name of the gateway to read, `+` (the default) of all
 * @property {string} [source]  likewise of the source
 * @property {number} [window]  messages held at once
 * @property {number} [windowBytes]
 * @property {number} [overdueMs]  a delivery nobody has in hand for so long is emitted again
 * @property {number} [attempts]  after so many it is parked
 * @property {number} [quietMs]  a source that sends nothing for so long has sent all that its spool holds
 * @property {import('../../gateway/base/log.js').Log} [log]
 */

const TICK_MS = 250
const COMPACT_MS = 60_000

/**
 * Receives batches for sinks and acknowledges each to the broker once every sink's database has committed it. The broker may lose, repeat
 * and reorder: what the databases have decides what is a duplicate, and what the spools hold decides what is missing and asked for again.
 *
 * Emits when all its sinks are ready. Event: `changed` (see `state`).
 */
export class Consumer extends EventEmitter {
  /** @type {Map<string, Stream>} */
  #streams = new Map()
  /** @type {Map<string, Held>} by delivery id, in order of arrival */
  #held = new Map()
  #heldBytes = 0
  #ready
  #resendRequests = new ResendRequests()
  #commitNotes = new CommitNotes()
  #subscribed = false
  #connected = false
  #closed = false
  /** How many connections have ended. */
  #ended = 0
  #compactedMs = performance.now()
  #timer
  counters = { received: 0, duplicates: 0, overflow: 0, redelivered: 0, resent: 0, emittedAgain: 0, parked: 0, refused: 0, thirdParty: 0 }

  /** @param {ConsumerOptions} options */
  constructor (options) {
    super()
    this.options = { gateway: '+', source: '+', window: 100, windowBytes: 2 ** 26, overdueMs: 30_000, attempts: 3, quietMs: 3000, log: console, ...options }
    const { client, registry, sinks, log } = this.options
    this.#ready = new ReadySinks({
      names: sinks,
      registry,
      log,
      onTold: (sink, committed) => this.#onStored(sink, committed),
      onChange: () => {
        this.#emitWaiting()
        this.emit('changed')
      }
    })
    client.on('connect', this.#onConnect)
    client.on('close', this.#onClose)
    if (client.connected) this.#onConnect()
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  get state () {
    const lost = [...this.#streams.values()].flatMap(stream => this.options.sinks.map(sink => stream.lost(sink)))
    return {
      connected: this.#connected,
      waitingFor: this.#ready.missing,
      held: this.#held.size,
      heldBytes: this.#heldBytes,
      lost: lost.reduce((sum, each) => sum + each.lost, 0),
      shortfall: lost.reduce((sum, each) => sum + each.shortfall, 0),
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
    if (!identity) {
      this.#keep(packet, ack, 'thirdParty', () => this.options.onThirdParty(packet))
      return
    }

    this.counters.received++
    const { epoch, seq } = identity
    const stream = this.#stream(identity.gateway, identity.source)
    stream.lastDataMs = performance.now()
    if (about.kind === 'data') stream.observe(epoch, seq)
    else this.counters.resent++

    const id = `${this.options.client.options.clientId}:${identityKey(identity)}` // two stage ins may hold the same batch
    const held = this.#held.get(id)
    if (held) {
      this.counters.redelivered++
      held.acks.push(ack)
    } else if (this.options.sinks.every(sink => stream.isStored(sink, epoch, seq))) {
      this.counters.duplicates++
      this.#noteAll(stream) // its spool does not know that it is stored
      ack()
    } else if (stream.isParked(epoch, seq)) {
      ack()
    } else if (this.#isFull(packet.payload.length)) {
      this.counters.overflow++ // safe to acknowledge: the spool has it until it is stored, and it will be found lacking
      ack()
    } else {
      this.#hold(id, identity, stream, packet, ack)
    }
  }

  /** Stops at once; what is not settled stays unacknowledged and comes again. The client is its owner's to end. */
  close () {
    this.#closed = true
    clearInterval(this.#timer)
    this.#publishCommits()
    const { client, deliveries } = this.options
    this.#ready.close()
    client.off('connect', this.#onConnect)
    client.off('close', this.#onClose)
    for (const id of this.#held.keys()) deliveries.close(id)
    this.#held.clear()
  }

  #onConnect = () => {
    this.#connected = true
    this.#resendRequests.clear()
    for (const stream of this.#streams.values()) stream.lastDataMs = performance.now()
    this.#subscribe()
  }

  #onClose = () => {
    this.#connected = this.#subscribed = false
    this.#ended++
    // Here, and not on connecting: on a session that goes on, messages come before MQTT.js emits `connect`.
    for (const held of this.#held.values()) held.acks = []
    this.emit('changed')
  }

  /** A session outlives a deploy and still brings what an earlier one subscribed to. @param {import('../topics.js').TopicParts} about */
  #isMeant (about) {
    const { gateway, source } = this.options
    const isData = about.kind === 'data' || about.kind === 'head' || about.kind === 'replayData'
    return isData && [about.gateway, '+'].includes(gateway) && [about.source, '+'].includes(source)
  }

  /**
   * At once, so that the spools wait for its sinks; what comes is held until each of those has told what it has, and can be told from a
   * duplicate.
   */
  #subscribe () {
    const { client, sinks, gateway, source, log } = this.options
    if (this.#subscribed || this.#closed || !client.connected) return
    this.#connected = this.#subscribed = true
    const base = `${ROOT}/${filterOf(gateway)}/${filterOf(source)}`
    const topics = [`${base}/head`, `${base}/data`, `${base}/replay/${level(sinks[0])}/data`]
    client.subscribe(topics, { qos: 1 }, (error, granted) => {
      const refused = granted?.filter(({ qos }) => qos >= 128).map(({ topic }) => topic) ?? []
      if ((error || refused.length > 0) && client.connected) log.error(`The broker refuses the subscription to ${refused.join(', ') || topics.join(', ')}${error ? `: ${describe(error)}` : ''}`)
    })
    for (const stream of this.#streams.values()) this.#noteAll(stream)
    this.#publishCommits()
    this.emit('changed')
  }

  /** @param {string} sink @param {import('../../gateway/databases/sink.js').Committed[]} committed */
  #onStored (sink, committed) {
    for (const { gateway, source } of committed) this.#stream(gateway, source)
    for (const stream of this.#streams.values()) {
      stream.setStored(sink, committed.filter(({ gateway, source }) => gateway === stream.gateway && source === stream.source))
      this.#commitNotes.add(stream, sink)
      this.#tellShortfall(stream, sink)
    }
    for (const { delivery, stream } of this.#held.values()) {
      if (stream.isStored(sink, delivery.identity.epoch, delivery.identity.seq)) delivery.recorded(sink)
    }
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
    const stream = this.#stream(gateway, source)
    const isFirst = !stream.headKnown
    if (stream.setHead(head)) this.#noteAll(stream)
    if (isFirst) this.#publishCommits() // at once: until it hears of a sink, a spool does not wait for it
    for (const { name } of isFirst ? this.#ready : []) this.#tellShortfall(stream, name)
  }

  /** @param {Stream} stream @param {string} sink */
  #tellShortfall (stream, sink) {
    const { shortfall } = stream.lost(sink)
    if (shortfall > 0) this.options.log.warn(`Sink "${sink}" begins late with ${stream.source}: ${shortfall} earlier batches are no longer in the spool.`)
  }

  /** @param {string} id @param {Identity} identity @param {Stream} stream @param {Packet} packet @param {() => void} ack */
  #hold (id, identity, stream, packet, ack) {
    const bytes = packet.payload.length
    const { sinks, deliveries, decode } = this.options
    let batch
    try {
      batch = decode(packet)
    } catch (error) {
      this.#keep(packet, ack, 'refused', () => this.options.onRefused(packet, error))
      return
    }
    const delivery = deliveries.open({
      id,
      batch: batch.withIdentity(identity),
      sinks,
      mark: (sink, record) => this.#mark(sink, record),
      onFinished: sink => this.#onFinished(id, sink)
    })
    this.#held.set(id, { delivery, stream, bytes, acks: [ack], emitted: false })
    this.#heldBytes += bytes
    stream.hold(identity.epoch, identity.seq)
    for (const sink of sinks) if (stream.isStored(sink, identity.epoch, identity.seq)) delivery.recorded(sink)
    if (this.#held.has(id)) this.#emit(delivery)
  }

  /**
   * Stores the record that a sink has dealt with a batch. Its rows are stored, so it is tried until the sink is there and takes it: to
   * emit the batch again would store them twice.
   * @param {string} sink
   * @param {Batch} record
   */
  async #mark (sink, record) {
    while (!this.#closed) {
      try {
        const handle = this.#ready.get(sink)
        if (handle) return await handle.write(record)
      } catch (error) {
        this.options.log.warn(`Sink "${sink}" could not record that it has dealt with a batch: ${describe(error)}`)
      }
      await new Promise(resolve => setTimeout(resolve, TICK_MS))
    }
  }

  /**
   * Messages that are no deliveries: acknowledged once they are safe elsewhere, which is tried as long as their connection lasts, because
   * the broker gets its acknowledgements in order: one that never came would hold up all that follow.
   * @param {Packet} packet
   * @param {() => void} ack
   * @param {'thirdParty'|'refused'} kind
   * @param {() => Promise<void>} keep
   */
  async #keep (packet, ack, kind, keep) {
    this.counters[kind]++
    const ended = this.#ended
    await again(async () => {
      await keep()
      ack()
    }, {
      goesOn: () => !this.#closed && this.#ended === ended,
      onError: error => this.options.log.error(`A message on ${packet.topic} cannot be kept, and stays with the broker: ${describe(error)}`)
    })
  }

  /** @param {number} bytes */
  #isFull (bytes) {
    const { window, windowBytes } = this.options
    return this.#held.size > 0 && (this.#held.size >= window || this.#heldBytes + bytes > windowBytes)
  }

  /** @param {Delivery} delivery */
  #emit (delivery) {
    if (!this.#ready.areAll) return
    const held = this.#held.get(delivery.id)
    if (held) held.emitted = true
    delivery.begin()
    this.options.emit(delivery)
  }

  /** Once a sink has come back: what it let go of, and what came while it was away. */
  #emitWaiting () {
    for (const { delivery, emitted } of [...this.#held.values()]) {
      if (!emitted || delivery.waiting) this.#emit(delivery)
    }
  }

  /** @param {string} id @param {string} sink */
  #onFinished (id, sink) {
    const held = this.#held.get(id)
    if (!held) return
    const { delivery: { identity }, stream } = held
    stream.addStored(sink, identity.epoch, identity.seq)
    this.#commitNotes.add(stream, sink)
    if (held.delivery.finished) this.#done(id, held)
  }

  /** @param {string} id @param {Held} held */
  #done (id, { delivery: { identity }, stream, bytes, acks }) {
    this.#held.delete(id)
    this.#heldBytes -= bytes
    stream.letGo(identity.epoch, identity.seq)
    this.options.deliveries.close(id)
    for (const ack of acks) ack()
  }

  #tick () {
    this.#publishCommits()
    this.#seeToOverdue()
    if (this.#subscribed && this.#ready.areAll) this.#askForMissing()
    if (performance.now() - this.#compactedMs > COMPACT_MS) {
      this.#compactedMs = performance.now()
      const heads = [...this.#streams.values()].filter(({ headKnown }) => headKnown).flatMap(stream => stream.heads())
      for (const handle of this.#ready) {
        handle.compact(heads).catch(error => this.options.log.warn(`Sink "${handle.name}" could not tidy its commit records: ${describe(error)}`))
      }
    }
    this.emit('changed')
  }

  #seeToOverdue () {
    const { overdueMs, attempts, log } = this.options
    for (const [id, held] of this.#held) {
      const { delivery, stream, emitted } = held
      if (!emitted || !this.#ready.areAll || !delivery.idle || performance.now() - delivery.activeAtMs < overdueMs) continue
      if (delivery.attempts < attempts) {
        this.counters.emittedAgain++
        this.#emit(delivery)
        continue
      }
      const missing = [...delivery.sinks].filter(([, { state }]) => state !== 'finished').map(([name]) => name)
      log.error(`Batch ${id} went into the flow ${attempts} times and did not come out at ${missing.join(', ')}: parked until the next deploy. A flow that drops on purpose needs a settle node.`)
      this.counters.parked++
      stream.park(delivery.identity.epoch, delivery.identity.seq)
      this.#done(id, held)
    }
  }

  /** ResendRequests the spools for what some sink lacks, no more than there is room for. */
  #askForMissing () {
    const { window, quietMs, sinks, client } = this.options
    for (const [key, stream] of this.#streams) {
      const room = window - this.#held.size
      if (room < window / 4) return
      const quiet = performance.now() - stream.lastDataMs > quietMs && this.#held.size < window / 2
      const epochs = this.#resendRequests.next(key, stream.lacks(sinks, { limit: room, quiet }))
      if (epochs) client.publish(topicsOf(stream.gateway, stream.source).replay(sinks[0]), JSON.stringify({ epochs }), { qos: 1 })
    }
  }

  /** @param {Stream} stream */
  #noteAll (stream) {
    for (const sink of this.options.sinks) this.#commitNotes.add(stream, sink)
  }

  #publishCommits () {
    if (this.#subscribed) this.#commitNotes.send(this.options.client, sink => this.#ready.get(sink) !== undefined)
  }

  /** @param {string} gateway @param {string} source */
  #stream (gateway, source) {
    const key = `${gateway}/${source}`
    let stream = this.#streams.get(key)
    if (!stream) {
      stream = new Stream(gateway, source)
      for (const { name } of this.#ready) stream.setStored(name, []) // or it would be known from what the sink has told
      this.#streams.set(key, stream)
    }
    return stream
  }
}

/** Null of a message from others, broken ones included. @param {Buffer} payload */
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
