import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deferAcks } from '../../broker/in/deferred-acks.js'
import { Keeping } from '../../broker/in/keeping.js'
import { Receipts } from '../../broker/in/receipts.js'
import { ThirdPartyConsumer } from '../../broker/in/third-party.js'
import { Gathering } from '../../broker/out/gathering.js'
import { Stage } from '../../broker/out/stage.js'
import { nowNs, wallClock } from '../../gateway/clock/system-clock.js'
import { marker } from '../../gateway/messages/marked.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe } from '../../gateway/base/errors.js'
import { QuietLog } from '../../gateway/base/log.js'
import { countOf } from '../../gateway/messages/refusals.js'
import { NAMESPACE, topicOf } from '../../gateway/sparkplug/topic.js'
import { stats } from '../../gateway/stats/stats.js'
import { offerRefused } from '../../gateway/dead-letters/refused-values.js'
import { dataDir, logOf } from '../node.js'
import { openConnection } from './connection.js'
import { placesOf } from './places.js'
import { leaseRequiredSinks } from './required-sinks.js'
import { gatheringOptions } from './gathering.js'
import { admitted } from './spooling.js'

/**
 * @typedef {import('../../broker/in/contract.js').Packet} Packet
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {import('./spooling.js').Content} Content
 * @typedef {import('../../broker/in/receipts.js').Receipt} Receipt
 * @typedef {import('../../broker/in/keeping.js').Guest & {packet: Packet}} Guest
 * @typedef {object} Opened
 * @property {import('../../broker/connection/connection.js').Connection} connection
 * @property {ThirdPartyConsumer} consumer
 * @property {Stage} stage
 * @property {Gathering<Guest>} gathering
 * @property {Keeping<Guest>} keeping
 * @property {Receipts} receipts
 * @property {ReturnType<typeof placesOf>} places
 * @property {() => void} release
 */

/** In a deploy, for the spool to take what has come. */
const PATIENCE_MS = 1000
/** How often what has come twice looks whether it is in the spool by now. */
const LOOK_MS = 50
/** Messages of devices are small: while some gather and some are stored, others must come. */
const WINDOW = 10

/**
 * The third-party messages of a stage in: they come over a connection of their own, and get an identity in a spool of this node's, from
 * where they are sent like our own.
 */
export class ThirdPartyStage {
  #node
  #options
  #refusedQueue
  #meter
  #mapper
  #topics
  #quietLog
  #opening
  /** Where the topics may include Sparkplug's. @type {import('../../gateway/sparkplug/host.js').SparkplugHost|null} */
  #sparkplug = null
  /** Where the host has a name. @type {import('../../gateway/sparkplug/presence.js').HostPresence|null} */
  #presence = null
  #dropGauge = () => {}
  #hasDropped = false
  /** @type {Opened|null} */
  #opened = null

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
    this.#options = options
    this.#refusedQueue = refused
    this.#meter = meter
    this.#mapper = mapper
    this.#topics = [...new Set([...options.foreignTopics, ...mapper.filters])]
    this.#quietLog = new QuietLog(logOf(node), () => performance.now())
    wallClock.start()
    this.#opening = this.#open(RED)
    this.#opening.then(opened => { this.#opened = opened }, error => node.error(describe(error)))
  }

  /** Filters that the broker has not granted since the last connect. @returns {string[]} */
  get missingTopics () { return this.#opened?.consumer.missing ?? this.#topics }

  /**
   * Calls `done` once all that is in a message is in the spool, kept among the dead letters, or counted where those have no room; also when
   * it had come before.
   * @param {Packet} packet
   * @param {() => void} done
   */
  keep (packet, done) {
    const read = this.#tryToRead(packet) // when it has come: its time may be now
    if (this.#opened && !(read instanceof Promise)) this.#accept(this.#opened, packet, read, done)
    else this.#keepLater(packet, read, done)
  }

  /** @param {Packet} packet @param {Content|Promise<Content>} read @param {() => void} done */
  async #keepLater (packet, read, done) {
    const opened = await this.#opening.catch(() => null)
    const content = await read
    if (opened) this.#accept(opened, packet, content, done)
  }

  /** @param {Opened} opened @param {Packet} packet @param {Content} content @param {() => void} done */
  #accept (opened, packet, content, done) {
    const receipt = opened.receipts.of(packet)
    if (!receipt) this.#store(opened, packet, content, null, done)
    else if (receipt.isPending()) this.#waitFor(opened, receipt, done)
    else if (receipt.has) this.#store(opened, packet, content, receipt.has, done)
    else if (receipt.isOld && content.refused.length > 0) this.#keepRefused(packet.topic, content.refused).then(done)
    else done()
  }

  /** It has come before, and is on its way. @param {Opened} opened @param {Receipt} receipt @param {() => void} done */
  async #waitFor ({ gathering }, receipt, done) {
    while (receipt.isPending()) {
      gathering.flush()
      await sleep(LOOK_MS, undefined, { ref: false })
    }
    done()
  }

  /**
   * @param {Opened} opened @param {Packet} packet @param {Content} content
   * @param {Set<number>|null} has  which of its batches are in the spool already
   * @param {() => void} done
   */
  #store ({ receipts, gathering, places }, packet, content, has, done) {
    const message = receipts.note(packet, content.batches.length)
    const { batches, refused } = admitted(content, has, source => places.admit(source), packet.payload)
    gathering.begin()
    const finish = () => {
      receipts.kept(message)
      gathering.end()
      done()
    }
    let left = batches.length
    const finishPart = () => {
      if (--left > 0) return
      if (refused.length === 0) finish()
      else this.#keepRefused(packet.topic, refused).then(finish)
    }
    if (left === 0) {
      left = 1
      finishPart()
    } else for (const { batch, part } of batches) gathering.take(batch, { message, part, packet, done: finishPart })
  }

  /** @param {string} topic @param {Refused[]} refused */
  async #keepRefused (topic, refused) {
    const unkept = await offerRefused(this.#refusedQueue, topic, refused)
    const count = countOf(refused)
    this.#meter.errors += count
    this.#meter.dropped += unkept
    const values = `${count} refused ${count === 1 ? 'value' : 'values'} of a message on ${topic}`
    const what = unkept === 0 ? `Kept ${values}` : `The dead letters have no room: ${unkept} of ${values} were only counted`
    const [{ reason }] = refused
    this.#quietLog.say('warn', unkept === 0 ? `${topic}: ${reason}` : 'no room', `SLUICE_MESSAGE: ${what}: ${reason}`)
  }

  async close () {
    const opened = await this.#opening.catch(() => null)
    this.#dropGauge()
    if (!opened) return
    opened.consumer.close()
    this.#presence?.close()
    const { gathering, keeping, stage, connection, receipts, release } = opened
    gathering.flush()
    await Promise.race([keeping.settled(), sleep(PATIENCE_MS, undefined, { ref: false })])
    keeping.close()
    await closeAll(() => stage.close(() => connection.close()), () => receipts.close(), release)
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
    const { broker, receiveMaximum, maxSources, sparkplugHost } = this.#options
    const openHost = this.#topics.some(mayBeSparkplug) ? await hostOpener() : null
    const { requiredSinks, release } = await leaseRequiredSinks(RED, this.#node, broker)
    const presence = this.#presence = openHost && sparkplugHost ? await openPresence(sparkplugHost, logOf(this.#node)) : null
    const { gateway, connection } = await openConnection(RED, this.#node, {
      broker, role: 'foreign', receiveMaximum: Math.min(WINDOW * receiveMaximum, 65_535), will: presence?.will()
    }).catch(error => {
      release()
      throw error
    })
    const { client } = connection // from here to deferAcks nothing is awaited: MQTT.js would acknowledge what comes meanwhile
    if (openHost) this.#listenToSparkplug(openHost(client), client)
    const log = logOf(this.#node)
    const consumer = new ThirdPartyConsumer({
      client,
      topics: this.#topics,
      keep: (packet, done) => this.keep(packet, done),
      onDropped: () => this.#dropped(),
      onNewSession: () => this.#newSession(),
      log
    })
    presence?.attach(client, this.#topics) // after the consumer, which subscribes first
    deferAcks(client, (packet, ack) => consumer.receive(/** @type {Packet} */ (packet), ack))
    try {
      const stage = await Stage.open({
        folder: join(dataDir(RED), 'spool', this.#node.id), name: this.#node.id, gateway, client, broker: connection.place, requiredSinks,
        fsync: 'batch', log
      })
      const receipts = await Receipts.open(join(dataDir(RED), 'spool', `${this.#node.id}.receipts`), stage.spool.rowsBySource)
      /** @type {Keeping<Guest>} */
      const keeping = new Keeping({
        receipts,
        append: batch => stage.append(batch),
        onKept: batch => stats.meter('stage', batch.source).record(batch),
        onRefused: ({ packet }, error) => this.#keepRefused(packet.topic, [{ index: -1, reason: describe(error), value: packet.payload }]),
        log
      })
      const gathering = new Gathering({
        ...gatheringOptions(this.#options), maxMessages: WINDOW * receiveMaximum / 2, store: gathered => keeping.store(gathered)
      })
      return { connection, consumer, stage, gathering, keeping, receipts, places: placesOf(stage, maxSources), release }
    } catch (error) { // left open, it would take over the session of the next connection
      consumer.close()
      await closeAll(() => connection.close(), release)
      throw error
    }
  }

  /** @param {import('../../gateway/sparkplug/host.js').SparkplugHost} host @param {MqttClient} client */
  #listenToSparkplug (host, client) {
    this.#sparkplug = host
    client.on('connect', () => host.reconnected())
    this.#dropGauge = stats.gauge(`sparkplug ${this.#node.name || this.#node.id}`, () => host.gauge())
  }
}

/** @param {string} filter */
function mayBeSparkplug (filter) {
  return [NAMESPACE, '#', '+'].includes(filter.replace(/^\$share\/[^/]*\//, '').split('/')[0])
}

/** @param {string} hostId @param {import('../../gateway/base/log.js').Log} log */
async function openPresence (hostId, log) {
  const { HostPresence } = await import('../../gateway/sparkplug/presence.js')
  return new HostPresence(hostId, log)
}

/** The Sparkplug code is loaded only where it is used. */
async function hostOpener () {
  const { SparkplugHost } = await import('../../gateway/sparkplug/host.js')
  const { encodeRebirthCommand } = await import('../../gateway/sparkplug/codec.js')
  return (/** @type {MqttClient} */ client) => new SparkplugHost({
    requestRebirth (groupId, nodeId) {
      client.publish(topicOf({ type: 'NCMD', groupId, nodeId }), encodeRebirthCommand(nowNs()))
    }
  })
}
