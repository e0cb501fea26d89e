import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Incoming } from '../../broker/in/incoming.js'
import { Keeping } from '../../broker/in/keeping.js'
import { Receipts } from '../../broker/in/receipts.js'
import { Subscriptions } from '../../broker/in/subscriptions.js'
import { ThirdPartyConsumer } from '../../broker/in/third-party.js'
import { Gathering } from '../../broker/out/gathering.js'
import { listenedTo } from '../../broker/out/hearing.js'
import { wallClock } from '../../gateway/clock/system-clock.js'
import { marker } from '../../gateway/messages/marked.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe } from '../../gateway/base/errors.js'
import { MAX_REFUSED } from '../../gateway/messages/bounds.js'
import { NAMESPACE } from '../../gateway/sparkplug/topic.js'
import { stats } from '../../gateway/stats/stats.js'
import { nameOf } from '../names.js'
import { dataDir, logOf } from '../node.js'
import { openConnection } from './connection.js'
import { gatheringOptions } from './gathering.js'
import { openStage } from './open-stage.js'
import { placesOf } from './places.js'
import { RefusedContent } from './refused-content.js'
import { hostOpener, mayBeSparkplug, openPresence } from './sparkplug-host.js'
import { admitted } from './spooling.js'

/**
 * @typedef {import('../../broker/in/contract.js').Packet} Packet
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('./spooling.js').Content} Content
 * @typedef {import('../../broker/in/receipts.js').Receipt} Receipt
 * @typedef {import('../../broker/in/receipts.js').Message} Message
 * @typedef {import('../../broker/in/deferred-acks.js').Acknowledged} Acknowledged
 * @typedef {object} Opened
 * @property {import('../../broker/connection/connection.js').Connection} connection
 * @property {Incoming} incoming
 * @property {ThirdPartyConsumer} consumer
 * @property {Gathering<import('../../broker/in/keeping.js').Guest>} gathering
 * @property {Keeping} keeping
 * @property {Receipts} receipts
 * @property {ReturnType<typeof placesOf>} places
 * @property {() => Promise<void>} closeStage
 */

/** In a deploy, for the spool to take what has come. */
const PATIENCE_MS = 1000
/** How often what has come twice looks whether it is in the spool by now. */
const LOOK_MS = 50
/** Messages of devices are small: while some gather and some are stored, others must come. */
const WINDOW = 10
const MAX_WINDOW = 65_535
/** Larger messages wait with the broker: those that have come are in memory until they are in the spool. */
const MAX_WAITING_BYTES = 2 ** 24
/** Half of the messages with QoS 0 that may wait before some are dropped. */
const MAX_GATHERED = 500

/**
 * The third-party messages of a stage in: they come over a connection that does nothing else, and get an identity in a spool of this
 * node's, from where they are sent like our own, over another one.
 */
export class ThirdPartyStage {
  #node
  #name
  #options
  #refused
  #meter
  #mapper
  #topics
  #window
  #opening
  /** Where the topics may include Sparkplug's. @type {import('../../gateway/sparkplug/host.js').SparkplugHost|null} */
  #sparkplug = null
  /** Where the host has a name. @type {import('../../gateway/sparkplug/presence.js').HostPresence|null} */
  #presence = null
  #dropGauge = () => {}
  #hasDropped = false
  /** @type {Opened|null} */
  #opened = null
  /** Why it could not be opened. @type {Error|null} */
  problem = null

  /**
   * @param {import('../node.js').RED} RED
   * @param {import('../node.js').Node} node
   * @param {object} more
   * @param {any} more.options  of the node
   * @param {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} more.refused  for values that cannot be read
   * @param {import('../../gateway/stats/meter.js').Meter} more.meter
   * @param {import('../../gateway/messages/mapping/mapping.js').Mapper} more.mapper
   */
  constructor (RED, node, { options, refused, meter, mapper }) {
    this.#node = node
    this.#name = nameOf(RED, node)
    this.#options = options
    this.#refused = new RefusedContent(refused, meter, logOf(node))
    this.#meter = meter
    this.#mapper = mapper
    this.#topics = [...new Set([...options.foreignTopics, ...mapper.filters])]
    this.#window = Math.min(WINDOW * options.receiveMaximum, MAX_WINDOW)
    wallClock.start()
    this.#opening = this.#open(RED)
    this.#opening.then(opened => { this.#opened = opened }, error => {
      this.problem = error
      node.error(describe(error))
    })
  }

  /** Filters that the broker has not granted since the last connect. @returns {string[]} */
  get missingTopics () { return this.#opened?.consumer.missing ?? this.#topics }

  /** Why messages wait with the broker; null where they do not. @returns {string|null} */
  get blocked () { return this.#opened?.keeping.blocked ?? null }

  /**
   * Acknowledges a message once all that is in it is in the spool, kept among the dead letters, or counted where those have no room; also
   * when it had come before.
   * @param {Packet} packet
   * @param {Acknowledged} held
   */
  keep (packet, held) {
    const read = this.#tryToRead(packet) // when it has come: its time may be now
    if (this.#opened && !(read instanceof Promise)) this.#accept(this.#opened, packet, read, held)
    else this.#keepLater(packet, read, held)
  }

  /** @param {Packet} packet @param {Content|Promise<Content>} read @param {Acknowledged} held */
  async #keepLater (packet, read, held) {
    const opened = await this.#opening.catch(() => null)
    const content = await read
    if (opened) this.#accept(opened, packet, content, held)
  }

  /** @param {Opened} opened @param {Packet} packet @param {Content} content @param {Acknowledged} held */
  #accept (opened, packet, content, held) {
    const receipt = opened.receipts.of(packet)
    if (!receipt) this.#store(opened, packet, content, null, held)
    else if (receipt.isPending()) this.#waitFor(opened, receipt, held)
    else if (receipt.has) this.#store(opened, packet, content, receipt.has, held)
    else if (receipt.isOld && content.refused.length > 0) this.#refused.keep(packet.topic, content.refused, () => held.ack())
    else held.ack()
  }

  /** It has come before, and is on its way. @param {Opened} opened @param {Receipt} receipt @param {Acknowledged} held */
  async #waitFor ({ gathering }, receipt, held) {
    while (receipt.isPending()) {
      gathering.flush()
      await sleep(LOOK_MS, undefined, { ref: false })
    }
    held.ack()
  }

  /**
   * @param {Opened} opened @param {Packet} packet @param {Content} content
   * @param {Set<number>|null} has  which of its batches are in the spool already
   * @param {Acknowledged} held
   */
  #store ({ receipts, gathering, places }, packet, content, has, held) {
    const message = receipts.note(packet, content.batches.length, held)
    const { batches, refused } = admitted(content, has, source => places.admit(source), packet.payload)
    gathering.begin()
    message.left = batches.length
    if (refused.length > 0) {
      message.left++
      this.#refused.keep(packet.topic, refused, () => this.#stored(message))
    } else if (message.left === 0) {
      message.left++
      this.#stored(message)
    }
    if (message.parts === 1 && batches.length === 1) gathering.take(batches[0].batch, message)
    else for (const { batch, part } of batches) gathering.take(batch, { message, part })
  }

  /** A part of a message is safe. @param {Message} message */
  #stored (message) {
    if (--message.left > 0) return
    const { receipts, gathering } = /** @type {Opened} */ (this.#opened)
    receipts.kept(message)
    gathering.end()
    message.held.ack()
  }

  async close () {
    const opened = await this.#opening.catch(() => null)
    this.#dropGauge()
    this.#refused.close()
    if (!opened) return
    const { incoming, consumer, gathering, keeping, connection, receipts, closeStage } = opened
    incoming.close()
    consumer.close()
    this.#presence?.close()
    gathering.flush()
    await Promise.race([keeping.settled(), sleep(PATIENCE_MS, undefined, { ref: false })])
    keeping.close()
    await closeAll(() => Promise.all([connection.close(), closeStage()]), () => receipts.close())
  }

  /** @param {Packet} packet @returns {Content|Promise<Content>} */
  #tryToRead (packet) {
    try {
      return this.#read(packet)
    } catch (error) { // no decoder throws; one that did would do so for ever
      return { batches: [], refused: [{ index: -1, reason: describe(error), value: packet.payload }] }
    }
  }

  /** At once where it is Sparkplug, whose order matters. @param {Packet} packet @returns {Content|Promise<Content>} */
  #read (packet) {
    const { topic, payload } = packet
    if (this.#sparkplug && topic.startsWith(`${NAMESPACE}/`)) return this.#mapper.adopt(this.#sparkplug.receive(topic, payload), topic)
    return marker.read(now => this.#mapper.decode(payload, { topic, contentType: packet.properties?.contentType, now }))
  }

  /** A message with QoS 0 could not wait. */
  #dropped () {
    this.#meter.dropped++
    if (this.#hasDropped) return
    this.#hasDropped = true
    this.#node.warn('SLUICE_MESSAGE: Third-party messages come faster than they can be kept; those with QoS 0 are dropped, and counted. ' +
      'Have them sent with QoS 1.')
  }

  async #newSession () {
    const { receipts } = await this.#opening
    await receipts.newSession().catch((/** @type {unknown} */ error) => this.#node.error(describe(error)))
  }

  /** @param {import('../node.js').RED} RED @returns {Promise<Opened>} */
  async #open (RED) {
    const { broker, gatherRows, maxSources } = this.#options
    const { stage, link: { gateway }, close } = await openStage(RED, this.#node, { broker, fsync: 'batch', recordRows: gatherRows })
    try {
      const path = join(dataDir(RED), 'spool', this.#node.id)
      const receipts = await Receipts.open(`${path}.receipts`, stage.spool.rowsBySource)
      const subscriptions = await Subscriptions.open(`${path}.filters`, this.#topics)
      const keeping = new Keeping({
        receipts,
        append: batch => stage.append(batch),
        blocked: () => stage.blocked,
        onKept: ({ batch, guests }) => {
          stats.meter('stage', batch.source).record(batch)
          for (const { message } of guests) this.#stored(message)
        },
        onRefused: async ({ message }, batch, error) => {
          const value = batch.slice(0, MAX_REFUSED).toObjects()
          await this.#refused.keep(message.topic.name, [{ index: -1, reason: describe(error), value }], () => this.#stored(message))
        },
        log: logOf(this.#node)
      })
      const gathering = new Gathering({
        ...gatheringOptions(this.#options),
        maxMessages: Math.min(this.#window / 2, MAX_GATHERED),
        store: gathered => keeping.store(gathered)
      })
      const receiving = await this.#receive(RED, subscriptions, gateway)
      return { ...receiving, gathering, keeping, receipts, places: placesOf(stage, maxSources), closeStage: close }
    } catch (error) {
      await close()
      throw error
    }
  }

  /** @param {import('../node.js').RED} RED @param {Subscriptions} subscriptions @param {string} gateway */
  async #receive (RED, subscriptions, gateway) {
    const openHost = this.#topics.some(mayBeSparkplug) ? await hostOpener() : null
    const { broker, sparkplugHost } = this.#options
    const presence = this.#presence = openHost && sparkplugHost ? await openPresence(sparkplugHost, logOf(this.#node)) : null
    const incoming = new Incoming({
      maxMessages: this.#window, maxBytes: MAX_WAITING_BYTES, onPublish: (packet, held) => consumer.receive(packet, held)
    })
    const link = await openConnection(RED, this.#node, {
      broker, role: 'foreign', receiveMaximum: this.#window, will: presence?.will(), read: incoming.read
    })
    const connection = /** @type {import('../../broker/connection/connection.js').Connection} */ (link.connection) // only MQTT has others
    const { client } = connection
    if (openHost) this.#listenToSparkplug(openHost(client), client)
    const former = listenedTo(gateway, this.#node.id)
    client.on('connect', () => { client.unsubscribe(former) })
    const consumer = new ThirdPartyConsumer({
      client,
      subscriptions,
      keep: (packet, held) => this.keep(packet, held),
      onDropped: () => this.#dropped(),
      onNewSession: () => this.#newSession(),
      log: logOf(this.#node)
    })
    presence?.attach(client, this.#topics) // after the consumer, which subscribes first
    return { connection, consumer, incoming }
  }

  /** @param {import('../../gateway/sparkplug/host.js').SparkplugHost} host @param {MqttClient} client */
  #listenToSparkplug (host, client) {
    this.#sparkplug = host
    client.on('connect', () => host.reconnected())
    this.#dropGauge = stats.gauge(`sparkplug ${this.#name}`, () => host.gauge())
  }
}
