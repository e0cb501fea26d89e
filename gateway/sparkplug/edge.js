import { byTags } from '../batch/groups.js'
import { tagAt } from '../batch/tags.js'
import { nowNs } from '../clock/system-clock.js'
import { asksForRebirth, BD_SEQ, decodePayload, encodePayload, msOf, REBIRTH } from './codec.js'
import { EdgeDevice } from './edge-device.js'
import { HeldBatches } from './held-batches.js'
import { topicOf } from './topic.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('./codec.js').MetricInit} MetricInit
 * @typedef {import('./topic.js').Topic} Topic
 * @typedef {{publish: (topic: string, payload: Buffer) => void, hasRoom: () => boolean}} Outlet  publishes with QoS 0, not retained; while
 *   `hasRoom` returns false, it gets nothing
 */

const INT64 = 4
const BOOLEAN = 11

/** Metrics of the node and its devices together, and devices. */
const MAX_METRICS = 100_000
const MAX_DEVICES = 10_000

const NOT_IN_TOPICS = /[/+#]/g
const IN_BRACES = /\{([^{}]+)\}/g

/**
 * What an edge node of Sparkplug 3.0 publishes, each source of batches being one of its devices. It knows nothing of MQTT: the owner of the
 * connection calls
 *
 * - `begin(bdSeq)` once the broker holds the will `encodeDeath(bdSeq, now)` and commands are subscribed to, and `end()` when the connection
 *   is lost or about to be ended;
 * - `command(payload)` for each message on its NCMD topic;
 * - `drained()` when the outlet has room again.
 *
 * In between, up to `maxHeldValues` are held and later sent as historical; the oldest beyond are dropped and counted. Sparkplug counts time
 * in milliseconds and sends with QoS 0: messages under way when a connection breaks are lost.
 */
export class SparkplugEdge {
  /** In values. `refused`: with a time before 1970, or fields beyond the limits */
  counters = { sent: 0, historical: 0, refused: 0, births: 0 }
  #groupId
  #nodeId
  #deviceId
  #outlet
  #now
  #held
  /** By id. @type {Map<string, EdgeDevice>} */
  #devices = new Map()
  #metrics = 0
  /** Of the session; null without one. @type {bigint|null} */
  #bdSeq = null
  #seq = 0

  /**
   * @param {object} options
   * @param {string} options.groupId
   * @param {string} options.nodeId
   * @param {string} [options.deviceId]  of all batches, with the source for `{source}` and a tag for its name in braces; default: each
   *   belongs to the device named like its source
   * @param {Outlet} options.outlet
   * @param {number} [options.maxHeldValues]
   * @param {() => bigint} [options.now]  nanoseconds since 1970
   */
  constructor ({ groupId, nodeId, deviceId, outlet, maxHeldValues = 100_000, now = nowNs }) {
    this.#groupId = groupId
    this.#nodeId = nodeId
    this.#deviceId = deviceId
    this.#outlet = outlet
    this.#now = now
    this.#held = new HeldBatches(maxHeldValues)
  }

  get isOnline () { return this.#bdSeq !== null }

  /** For status and stats. */
  get state () {
    return {
      devices: this.#devices.size,
      metrics: this.#metrics,
      heldValues: this.#held.values,
      droppedValues: this.#held.droppedValues,
      ...this.counters
    }
  }

  /** @param {bigint} bdSeq  of the session that begins */
  begin (bdSeq) {
    this.#bdSeq = bdSeq
    this.#publishBirths()
    this.drained()
  }

  end () {
    this.#bdSeq = null
  }

  /** Never throws for what is in the bytes. @param {Uint8Array} bytes */
  command (bytes) {
    try {
      if (this.isOnline && asksForRebirth(decodePayload(bytes))) this.#publishBirths()
    } catch {
      // not a command
    }
  }

  drained () {
    while (this.#isOpen) {
      const batch = this.#held.take()
      if (!batch) return
      this.#send(batch, true)
    }
  }

  /** @param {Batch} batch */
  take (batch) {
    const isNamedByTags = this.#deviceId?.includes('{')
    for (const part of isNamedByTags ? byTags(batch) : [batch]) this.#take(part)
  }

  /** @param {Batch} whole  of one device */
  #take (whole) {
    const batch = this.#withGoodTimes(whole)
    if (batch.values === 0) return
    const device = this.#deviceFor(batch)
    if (!device) {
      this.counters.refused += batch.values
      return
    }
    this.counters.refused += device.learn(batch) * batch.rows
    if (this.#isOpen) return this.#send(batch, false)
    device.remember(batch, batch.rows - 1)
    this.#held.add(batch)
  }

  get #isOpen () {
    return this.isOnline && this.#outlet.hasRoom()
  }

  /** @param {Batch} batch @param {boolean} isHistorical */
  #send (batch, isHistorical) {
    const id = this.#deviceIdOf(batch)
    const device = /** @type {EdgeDevice} */ (this.#devices.get(id))
    let from = 0
    if (!device.isBorn) {
      if (!isHistorical) {
        device.remember(batch, 0) // a birth has values
        this.counters.sent += batch.fields.length
        from = 1
      }
      this.#publishBirth(id, device)
    }
    for (const { metrics, rows } of device.portions(batch, { from, isHistorical })) {
      this.#publish('DDATA', id, metrics)
      this.counters[isHistorical ? 'historical' : 'sent'] += rows * batch.fields.length
      from += rows
      if (from < batch.rows && !this.#outlet.hasRoom()) {
        this.#held.putBack(batch.slice(from, batch.rows))
        break
      }
    }
    if (!isHistorical) device.remember(batch, batch.rows - 1)
  }

  #publishBirths () {
    const timestamp = msOf(this.#now())
    this.#seq = 0
    this.#publish('NBIRTH', undefined, [
      bdSeqMetric(/** @type {bigint} */ (this.#bdSeq), timestamp),
      { name: REBIRTH, timestamp, datatype: BOOLEAN, value: { case: 'booleanValue', value: false } }
    ])
    for (const [id, device] of this.#devices) this.#publishBirth(id, device)
  }

  /** @param {string} id @param {EdgeDevice} device */
  #publishBirth (id, device) {
    this.#publish('DBIRTH', id, device.birth(this.#now()))
    device.isBorn = true
    this.counters.births++
  }

  /** @param {Topic['type']} type @param {string|undefined} deviceId @param {MetricInit[]} metrics */
  #publish (type, deviceId, metrics) {
    const topic = topicOf({ type, groupId: this.#groupId, nodeId: this.#nodeId, deviceId })
    this.#outlet.publish(topic, encodePayload({ timestamp: msOf(this.#now()), seq: BigInt(this.#seq), metrics }))
    this.#seq = (this.#seq + 1) % 256
  }

  /** @param {Batch} batch */
  #withGoodTimes (batch) {
    if (batch.time.every(ns => ns > 0n)) return batch
    const good = Array.from(batch.time.keys()).filter(row => batch.time[row] > 0n)
    this.counters.refused += (batch.rows - good.length) * batch.fields.length
    return batch.pick(good)
  }

  /** @param {Batch} batch @returns {EdgeDevice|undefined} */
  #deviceFor (batch) {
    const id = this.#deviceIdOf(batch)
    let device = this.#devices.get(id)
    if (!device && this.#devices.size < MAX_DEVICES) {
      device = new EdgeDevice(() => this.#metrics < MAX_METRICS ? BigInt(this.#metrics++) : null)
      this.#devices.set(id, device)
    }
    return device
  }

  /** @param {Batch} batch */
  #deviceIdOf ({ source, tags }) {
    const names = new Map([...Object.entries(tags), ['source', source]])
    const id = this.#deviceId?.replace(IN_BRACES, (_, name) => tagAt(names.get(name) ?? '', 0) ?? '')
    return (id || source).replace(NOT_IN_TOPICS, '.')
  }
}

/**
 * Published by the broker when the session is lost, and by the edge node itself when it ends it.
 * @param {bigint} bdSeq
 * @param {bigint} ns
 */
export function encodeDeath (bdSeq, ns) {
  const timestamp = msOf(ns)
  return encodePayload({ timestamp, metrics: [bdSeqMetric(bdSeq, timestamp)] })
}

/** @param {bigint} bdSeq @param {bigint} timestamp @returns {MetricInit} */
function bdSeqMetric (bdSeq, timestamp) {
  return { name: BD_SEQ, timestamp, datatype: INT64, value: { case: 'longValue', value: bdSeq } }
}
