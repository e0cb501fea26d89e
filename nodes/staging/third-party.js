import { join } from 'node:path'
import { deferAcks } from '../../broker/in/deferred-acks.js'
import { Receipts } from '../../broker/in/receipts.js'
import { ThirdPartyConsumer } from '../../broker/in/third-party.js'
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
import { gatheringOf } from './gathering.js'
import { spoolAll } from './spooling.js'

/**
 * @typedef {import('../../broker/in/contract.js').Packet} Packet
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {import('./spooling.js').Content} Content
 * @typedef {{content: Content, done: PromiseWithResolvers<unknown>}} Taken
 * @typedef {object} Opened
 * @property {import('../../broker/connection/connection.js').Connection} connection
 * @property {ThirdPartyConsumer} consumer
 * @property {Stage} stage
 * @property {import('../../broker/out/gathering.js').Gathering} gathering
 * @property {Receipts} receipts
 * @property {ReturnType<typeof placesOf>} places
 * @property {() => void} release
 */

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
  /** What is still to be done with each message, however often it is tried. @type {WeakMap<Packet, Promise<Taken>>} */
  #taken = new WeakMap()

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
    this.#opening.catch(error => node.error(describe(error)))
  }

  /**
   * Resolves once all that is in a message is in the spool, kept among the dead letters, or counted where those have no room; also when it
   * had come before. When it fails, call it again with the same packet.
   * @param {Packet} packet
   */
  async keep (packet) {
    let taken = this.#taken.get(packet)
    if (!taken) this.#taken.set(packet, taken = this.#take(packet))
    const { content, done } = await taken
    const { gathering, places, receipts } = await this.#opening
    try {
      await gathering.message(() => spoolAll(content, async batch => {
        places.admit(batch.source)
        await gathering.append(batch)
        stats.meter('stage', batch.source).record(batch)
      }, packet.payload))
    } catch (error) {
      await receipts.doubt(packet)
      throw error
    }
    if (content.refused.length > 0) await this.#keepRefused(packet.topic, content.refused)
    done.resolve(undefined)
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
    const { gathering, stage, connection, receipts, release } = opened
    gathering.flush()
    await closeAll(() => stage.close(() => connection.close()), () => receipts.close(), release)
  }

  /**
   * What of a message is to be kept: all of one that is new, of another what an earlier process did not come to.
   * @param {Packet} packet
   * @returns {Promise<Taken>}
   */
  async #take (packet) {
    const done = Promise.withResolvers()
    const reading = this.#tryToRead(packet)
    const { receipts } = await this.#opening
    const { batches, refused } = await reading
    const receipt = receipts.of(packet)
    if (receipt?.kept) {
      await receipt.kept
      return { content: { batches: [], refused: [] }, done }
    }
    const lacking = receipt ? receipt.lacking : batches.map((_, i) => i)
    if (!receipt || lacking.length > 0) await receipts.write(packet, batches, lacking, done.promise)
    return { content: { batches: batches.filter((_, i) => lacking.includes(i)), refused }, done }
  }

  /** @param {Packet} packet @returns {Promise<Content>} */
  async #tryToRead (packet) {
    try {
      return await this.#read(packet)
    } catch (error) { // no decoder throws; one that did would do so for ever
      return { batches: [], refused: [{ index: -1, reason: describe(error), value: packet.payload }] }
    }
  }

  /** At once where it is Sparkplug, whose order matters. @param {Packet} packet @returns {Promise<Content>} */
  async #read (packet) {
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
      broker, role: 'foreign', receiveMaximum, will: presence?.will()
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
      keep: packet => this.keep(packet),
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
      const gathering = gatheringOf(this.#options, batch => stage.append(batch))
      return { connection, consumer, stage, gathering, receipts, places: placesOf(stage, maxSources), release }
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
