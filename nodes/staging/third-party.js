import { join } from 'node:path'
import { deferAcks } from '../../broker/in/deferred-acks.js'
import { ThirdPartyConsumer } from '../../broker/in/third-party.js'
import { Stage } from '../../broker/out/stage.js'
import { nowNs, wallClock } from '../../gateway/clock/system-clock.js'
import { marker } from '../../gateway/messages/marked.js'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe } from '../../gateway/base/errors.js'
import { countOf } from '../../gateway/messages/refusals.js'
import { NAMESPACE, topicOf } from '../../gateway/sparkplug/topic.js'
import { stats } from '../../gateway/stats/stats.js'
import { offerRefused } from '../../gateway/dead-letters/refused-values.js'
import { dataDir, logOf } from '../node.js'
import { openConnection } from './connection.js'
import { placesOf } from './places.js'
import { spoolAll } from './spooling.js'

/**
 * @typedef {import('../../broker/in/contract.js').Packet} Packet
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {import('./spooling.js').Content} Content
 * @typedef {{
 *   connection: import('../../broker/connection/connection.js').Connection, consumer: ThirdPartyConsumer, stage: Stage,
 *   places: ReturnType<typeof placesOf>
 * }} Opened
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
  #opening
  /** Where the topics may include Sparkplug's. @type {import('../../gateway/sparkplug/host.js').SparkplugHost|null} */
  #sparkplug = null
  #dropGauge = () => {}
  #hasDropped = false
  /** What is still to be done with each message, however often it is tried. @type {WeakMap<Packet, Content>} */
  #rest = new WeakMap()

  /**
   * @param {import('../node.js').RED} RED
   * @param {import('../node.js').Node} node
   * @param {object} more
   * @param {any} more.options  of the node
   * @param {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} more.refused  for values that cannot be read
   * @param {import('../../gateway/stats/meter.js').Meter} more.meter
   */
  constructor (RED, node, { options, refused, meter }) {
    this.#node = node
    this.#options = options
    this.#refusedQueue = refused
    this.#meter = meter
    wallClock.start()
    this.#opening = this.#open(RED)
    this.#opening.catch(error => node.error(describe(error)))
  }

  /**
   * Resolves once all that is in a message is in the spool, kept among the dead letters, or counted where those have no room. When it
   * fails, call it again with the same packet.
   * @param {Packet} packet
   */
  async keep (packet) {
    let rest = this.#rest.get(packet)
    if (!rest) this.#rest.set(packet, rest = await this.#tryToRead(packet))
    const { stage, places } = await this.#opening
    await spoolAll(rest, async batch => {
      places.admit(batch.source)
      await stage.append(batch)
      stats.meter('stage', batch.source).record(batch)
    }, packet.payload)
    if (rest.refused.length > 0) await this.#keepRefused(packet.topic, rest.refused)
  }

  /** @param {string} topic @param {Refused[]} refused */
  async #keepRefused (topic, refused) {
    const unkept = await offerRefused(this.#refusedQueue, topic, refused)
    const count = countOf(refused)
    this.#meter.errors += count
    this.#meter.dropped += unkept
    const values = `${count} refused ${count === 1 ? 'value' : 'values'} of a message on ${topic}`
    const what = unkept === 0 ? `Kept ${values}` : `The dead letters have no room: ${unkept} of ${values} were only counted`
    this.#node.warn(`SLUICE_MESSAGE: ${what}: ${refused[0].reason}`)
  }

  async close () {
    const opened = await this.#opening.catch(() => null)
    this.#dropGauge()
    if (!opened) return
    opened.consumer.close()
    await closeAll(() => opened.stage.close(), () => opened.connection.close())
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
    if (this.#sparkplug && packet.topic.startsWith(`${NAMESPACE}/`)) return this.#sparkplug.receive(packet.topic, packet.payload)
    return marker.read(now => decodeMessage(packet.payload, {
      source: packet.topic.replaceAll('/', '.'),
      contentType: packet.properties?.contentType,
      timeUnit: this.#options.timeUnit,
      now
    }))
  }

  /** A message with QoS 0 could not wait. */
  #dropped () {
    this.#meter.dropped++
    if (this.#hasDropped) return
    this.#hasDropped = true
    this.#node.warn('SLUICE_MESSAGE: Third-party messages come faster than they can be kept; those with QoS 0 are dropped, and counted. ' +
      'Have them sent with QoS 1.')
  }

  /** @param {import('../node.js').RED} RED @returns {Promise<Opened>} */
  async #open (RED) {
    const { broker, receiveMaximum, foreignTopics, maxSources } = this.#options
    const openHost = foreignTopics.some(mayBeSparkplug) ? await hostOpener() : null
    const { gateway, connection } = await openConnection(RED, this.#node, { broker, role: 'foreign', receiveMaximum })
    const { client } = connection // from here to deferAcks nothing is awaited: MQTT.js would acknowledge what comes meanwhile
    if (openHost) this.#listenToSparkplug(openHost(client), client)
    const log = logOf(this.#node)
    const consumer = new ThirdPartyConsumer({
      client, topics: foreignTopics, keep: packet => this.keep(packet), onDropped: () => this.#dropped(), log
    })
    deferAcks(client, (packet, ack) => consumer.receive(/** @type {Packet} */ (packet), ack))
    try {
      const stage = await Stage.open({ folder: join(dataDir(RED), 'spool', this.#node.id), gateway, client, fsync: 'batch', log })
      return { connection, consumer, stage, places: placesOf(stage, maxSources) }
    } catch (error) { // left open, it would take over the session of the next connection
      consumer.close()
      await connection.close()
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
