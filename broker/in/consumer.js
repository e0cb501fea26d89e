import { EventEmitter } from 'node:events'
import { describe } from '../../gateway/base/errors.js'
import { QuietLog } from '../../gateway/base/log.js'
import { readSinks } from '../control-messages.js'
import { consumerTopics, parseTopic } from '../topics.js'
import { Arrivals } from './arrivals.js'
import { readHead } from './head.js'
import { anotherOf } from './clash.js'
import { HeldDeliveries } from './held-deliveries.js'
import { Keeper } from './keeper.js'
import { Looks } from './looks.js'
import { Members } from './members.js'
import { ReaderSinks } from './reader-sinks.js'
import { ReaderTopics } from './reader-topics.js'
import { ResendRequests } from './resend-requests.js'
import { Streams } from './streams.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('../../gateway/stats/balance.js').Balance} Balance
 * @typedef {import('./contract.js').Packet} Packet
 * @typedef {import('./contract.js').WiredSink} WiredSink
 * @typedef {import('./stream.js').Stream} Stream
 *
 * @typedef {object} ConsumerOptions
 * @property {import('../client.js').BrokerClient} client  with a fixed id and a persistent session; its messages go to `receive`
 * @property {string} consumer  whose sinks these are: the own gateway, or `group:<name>`
 * @property {string} reader  id of the stage in
 * @property {WiredSink[]} [sinks]  that must settle each delivery, until `wire` says otherwise
 * @property {import('./contract.js').Sinks} registry
 * @property {import('./contract.js').Deliveries} deliveries
 * @property {(delivery: import('./contract.js').Delivery) => void} emit  into the flow
 * @property {(packet: Packet) => Batch} decode  of a batch with identity; throws on what is broken
 * @property {(packet: Packet) => Promise<void>} onThirdParty  a message without identity on one of our topics: resolves once it is spooled
 * @property {(packet: Packet, reason: unknown) => Promise<void>} onRefused  a broken message: resolves once it is kept
 * @property {string} [own]  the own gateway: commits for its spools go in process
 * @property {(reader: string) => boolean} [isGone]  whether a reader of this consumer was one of the own gateway, and is no more
 * @property {(message: import('../local.js').LocalCommit) => void} [publishLocally]
 * @property {(spool: string) => void} [onOwnSpool]  one of the own gateway has been heard over the broker, again and again
 * @property {string} [gateway]  name of the gateway to read, `+` (the default) of all
 * @property {string} [source]  likewise of the source
 * @property {import('./contract.js').Sharing} [members]  with whom it shares gateways or sources; nobody otherwise
 * @property {number} [window]  messages held at once
 * @property {number} [windowBytes]
 * @property {number} [overdueMs]  a delivery that no sink has anything of for so long is emitted again
 * @property {number} [stillMs]  sinks that do nothing for so long with what is held, while there is no room for more, hold up the others
 * @property {number} [attempts]  after so many it is parked
 * @property {number} [quietMs]  a source that sends nothing for so long has sent all that its spool has
 * @property {number} [readIntervalMs]  how often databases are read while they commit
 * @property {import('../../gateway/base/log.js').Log} [log]
 */

/** So soon it looks at what has changed. */
const LOOK_MS = 250
const SOON_MS = 20
/** Of a source of which nothing is missing it is asked again so much later, unless something changes. */
const SETTLED_MS = 10_000
const COMPACT_MS = 60_000
/** A little less than a second, after which it is asked again. */
const REMEMBERED_MS = 900

const DEFAULTS = {
  gateway: '+',
  source: '+',
  sinks: [],
  publishLocally () {},
  onOwnSpool () {},
  isGone: () => false,
  window: 100,
  windowBytes: 2 ** 26,
  overdueMs: 30_000,
  stillMs: 10_000,
  attempts: 3,
  quietMs: 3000,
  readIntervalMs: 5000,
  log: console
}

/**
 * Receives batches for sinks and acknowledges each to the broker once every sink's database has committed it. The broker may lose, repeat
 * and reorder: what the databases have decides what is a duplicate, and what the spools have decides what is missing and requested again.
 *
 * A batch comes in by `receive`, is held (`HeldDeliveries`) and goes into the flow once all its sinks have been read (`ReaderSinks`); the
 * sinks settle it, and it is acknowledged. What their databases have is answered to the spools.
 *
 * Event: `changed` (see `state`).
 */
export class Consumer extends EventEmitter {
  #streams = new Streams()
  #sinks
  #held
  #keeper
  #arrivals
  #requests = new ResendRequests()
  #balances = remembered(() => {
    const isOld = !this.#connected || this.#held.isStill
    return this.#sinks.balances.map(line => ({ ...line, isOld }))
  })

  #losses = remembered(() => this.#sinks.losses)
  #quietLog
  #connected = false
  #closed = false
  #compactedMs = performance.now()
  #looks = new Looks(() => this.#look())
  /** Goes on with requesting, as there is room. @type {NodeJS.Timeout|undefined} */
  #soon
  /** Of messages that made no sense. */
  #ignored = 0
  #topics
  #stopSharing

  /** @param {ConsumerOptions} options */
  constructor (options) {
    super()
    this.options = { ...DEFAULTS, members: new Members(1, 1), ...options }
    const { client, log } = this.options
    this.#quietLog = new QuietLog(log, () => performance.now())
    const topics = this.#topics = new ReaderTopics(this.options)
    this.#sinks = new ReaderSinks(this.#streams, {
      ...this.options,
      isMeant: (gateway, source) => topics.isMeant(gateway, source),
      onRead: id => this.#held.recorded(id),
      onNews: () => this.#looks.within(LOOK_MS),
      onChange: () => {
        this.#held.emitWaiting()
        this.#looks.within(LOOK_MS)
        this.emit('changed')
      }
    })
    this.#held = new HeldDeliveries(this.#sinks, {
      ...this.options,
      onCommitted: (stream, id, identity) => this.#sinks.committed(id, stream, identity),
      onDone: () => { if (!this.#requests.isEmpty) this.#soon ??= setTimeout(() => this.#requestMissing(), SOON_MS) }
    })
    this.#keeper = new Keeper(client, log)
    this.#arrivals = new Arrivals({
      ...this.options,
      streams: this.#streams,
      sinks: this.#sinks,
      held: this.#held,
      requests: this.#requests,
      keeper: this.#keeper,
      isMeant: (gateway, source) => topics.isMeant(gateway, source),
      onMissing: () => this.#looks.within(LOOK_MS),
      onIgnored: (kind, gateway, { topic }, error) => this.#ignore(kind, gateway, topic, error)
    })
    this.wire(this.options.sinks)
    this.#stopSharing = this.options.members.onMoved(this.#onMoved)
    client.on('connect', this.#onConnect)
    client.on('close', this.#onClose)
    if (client.connected) this.#onConnect()
  }

  get counters () { return { ...this.#arrivals.counters, ignored: this.#ignored, setBack: this.#sinks.setBack, ...this.#held.counters } }

  get state () {
    const { lost, parked } = this.#losses()
    const { members, gateway, source } = this.options
    return {
      connected: this.#connected,
      sinks: this.#held.sinks.length,
      waitingFor: this.heldUpBy.map(({ label }) => label),
      membersFlaw: members.flawOf(this.#sinks.all.map(({ sink }) => sink), gateway, source),
      held: this.#held.size,
      heldBytes: this.#held.bytes,
      lostRows: lost,
      parkedRows: parked,
      ...this.counters
    }
  }

  /** Those that a delivery waits for. @returns {string[]} ids */
  get sinks () { return this.#held.sinks }

  /** The sinks that keep all others behind the reader waiting: what goes into the flow goes to all of them. */
  get heldUpBy () {
    const ids = this.#sinks.areReady ? this.#held.heldUpBy : this.#sinks.missing
    return ids.map(id => ({ id, label: this.#sinks.labelOf(id) }))
  }

  /** Of each sink and source, as it was at most a second ago. */
  get balances () { return this.#balances() }

  /**
   * The sinks behind the reader, from now on: no delivery waits for one that is not among them, or disabled. What is parked is tried again.
   * @param {WiredSink[]} sinks
   */
  wire (sinks) {
    for (const stream of this.#streams) {
      stream.unpark()
      stream.settledUntilMs = -Infinity
    }
    this.#held.wire(sinks.filter(({ isDisabled }) => !isDisabled).map(({ id }) => id))
    this.#sinks.wire(sinks)
    this.emit('changed')
  }

  /**
   * Every message from the broker comes here; it is acknowledged by calling `ack`.
   * @param {Packet} packet
   * @param {() => void} ack
   */
  receive (packet, ack) {
    if (this.#closed) return
    const about = parseTopic(packet.topic)
    if (about?.kind === 'head' && this.#topics.isMeant(about.gateway)) {
      this.#onHead(about.gateway, about.spool, packet)
      ack()
    } else if (about?.kind === 'data' && this.#topics.isMeant(about.gateway, about.source)) {
      this.#arrivals.receive(packet, ack, about.gateway, about.source)
    } else if (about?.kind === 'resent' && this.#topics.isMeant(about.gateway) && about.reader === this.options.reader) {
      this.#arrivals.receive(packet, ack, about.gateway)
    } else if (about?.kind === 'sinks' && about.consumer === this.options.consumer && about.reader !== this.options.reader) {
      this.#onList(about.reader, packet)
      ack()
    } else {
      if (about?.kind === 'data') this.#topics.choose(about.gateway)
      ack()
    }
  }

  /** Another gateway reads under the id of this one. */
  double () {
    this.#arrivals.counters.clashes++
    this.#quietLog.say('warn', 'double', `SLUICE_BROKER_TAKEN_OVER: ${anotherOf(this.options.own ?? '')}`)
    this.emit('changed')
  }

  /** What the flow has under way may be lost, by no fault of its own. */
  doubt () { this.#held.doubt() }

  /** What only another attempt can bring goes into the flow again. */
  emitWaiting () { this.#held.emitWaiting() }

  /**
   * Stops at once; what is not settled stays unacknowledged and comes again. The client is its owner's to end.
   * @param {{removed?: boolean}} [options]  the stage in is gone for good, and so are its sinks
   */
  close ({ removed = false } = {}) {
    this.#closed = true
    this.#looks.close()
    clearTimeout(this.#soon)
    const { client } = this.options
    this.#sinks.close({ removed })
    this.#keeper.close()
    this.#stopSharing()
    client.off('connect', this.#onConnect)
    client.off('close', this.#onClose)
    this.#held.close()
  }

  /** @param {string} gateway @param {string} spool @param {Packet} packet */
  #onHead (gateway, spool, packet) {
    const { payload, topic } = packet
    try {
      const { sources, isAll } = payload.length > 0 ? readHead(payload) : { sources: [], isAll: true }
      const meant = sources.filter(({ source }) => this.#topics.isMeant(gateway, source))
      const { hasLeft, lack } = this.#streams.setHead(gateway, spool, meant, isAll)
      this.#topics.choose(gateway)
      if (gateway === this.options.own) this.options.onOwnSpool(spool)
      this.#sinks.heard(gateway, hasLeft)
      this.#looks.within(LOOK_MS)
      if (lack) this.#ignore('head', gateway, topic, lack)
    } catch (error) {
      this.#ignore('head', gateway, topic, error)
    }
  }

  /**
   * Of another member, or of a reader that was deleted while it could not say so itself.
   * @param {string} reader
   * @param {Packet} packet
   */
  #onList (reader, { payload, topic }) {
    const { members, isGone } = this.options
    try {
      members.heard(reader, readSinks(payload))
    } catch (error) {
      this.#ignore('list', reader, topic, error)
    }
    if (payload.length > 0 && isGone(reader)) this.#sinks.clear(reader)
  }

  /** @param {'head'|'batch'|'list'} kind @param {string} from @param {string} topic @param {unknown} error */
  #ignore (kind, from, topic, error) {
    this.#ignored++
    this.#quietLog.say('warn', `${kind} ${from}`, `Ignored a ${kind} on ${topic}: ${describe(error)}`)
  }

  #onConnect = () => {
    this.#connected = true
    this.options.members.connected()
    this.#requests.clear()
    this.#streams.connected()
    this.#topics.subscribe()
    this.#sinks.connected()
    this.emit('changed')
  }

  #onClose = () => {
    this.#connected = false
    this.#held.dropAcks() // and not on connecting: on a session that goes on, messages come before MQTT.js emits `connect`
    this.emit('changed')
  }

  /**
   * Sources have come, or gone to another member, who may be storing them already: what is held of those is given up, and of those that
   * have come it is read anew what is stored.
   */
  #onMoved = () => {
    const isMeant = (/** @type {string} */ gateway, /** @type {string} */ source) => this.#topics.isMeant(gateway, source)
    this.#held.giveUp(({ gateway, source }) => !isMeant(gateway, source))
    this.#streams.keep(isMeant)
    this.#requests.clear()
    this.#sinks.readAnew()
    if (this.#connected) this.#topics.subscribe() // the heads come again
    this.emit('changed')
  }

  #look () {
    this.#sinks.tick()
    this.#held.emitOverdue()
    this.#requestMissing()
    if (performance.now() - this.#compactedMs > COMPACT_MS) {
      this.#compactedMs = performance.now()
      this.#sinks.compact()
    }
    this.emit('changed')
  }

  /** Requests from the spools what some sink lacks. What a quiet source has sent is stored, and costs nothing more. */
  #requestMissing () {
    const { window, quietMs, client, consumer, reader } = this.options
    const { sinks, unacknowledged } = this.#held
    clearTimeout(this.#soon)
    this.#soon = undefined
    if (!this.#connected || !this.#sinks.areReady || sinks.length === 0 || this.#closed) return
    /** @type {[Stream, import('./stream.js').Missing[]][]} */
    const missing = []
    const nowMs = performance.now()
    let lookMs = Infinity
    for (const stream of this.#streams) {
      if (nowMs < stream.settledUntilMs || !stream.headKnown) continue
      const silentMs = nowMs - stream.lastDataMs
      const quiet = !client.isBehind && silentMs > quietMs && unacknowledged < window / 2
      stream.isQuiet = quiet
      const takers = stream.takers(sinks, nowMs)
      const ranges = stream.missing(takers, { quiet })
      missing.push([stream, ranges])
      if (ranges.length > 0) lookMs = 0
      else if (!quiet) lookMs = Math.min(lookMs, quietMs - silentMs)
      else if (takers.length === sinks.length) stream.settledUntilMs = nowMs + SETTLED_MS
    }
    if (lookMs < Infinity) this.#looks.within(Math.max(LOOK_MS, lookMs))
    for (const [gateway, request] of this.#requests.all(missing, window - unacknowledged)) {
      client.publish(consumerTopics(consumer).resend(reader, gateway), JSON.stringify(request), { qos: 1 })
    }
  }
}

/** @template T @param {() => T} read @returns {() => T} what it read last, as long as that is not old */
function remembered (read) {
  let atMs = -Infinity
  /** @type {T} */
  let value
  return () => {
    const nowMs = performance.now()
    if (nowMs - atMs >= REMEMBERED_MS) [atMs, value] = [nowMs, read()]
    return value
  }
}
