import { nowNs } from '../clock/system-clock.js'
import { MAX_NAME } from '../messages/bounds.js'
import { describe } from '../base/errors.js'
import { decodePayload, msOf } from './codec.js'
import { Reading, sourceOf } from './reading.js'
import { Rebirths } from './rebirths.js'
import { parseTopic } from './topic.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../messages/payload.js').Refused} Refused
 * @typedef {import('./definitions.js').Definitions} Definitions
 * @typedef {import('./topic.js').Topic} Topic
 *
 * @typedef {object} Node
 * @property {bigint|undefined} bdSeq  of its session: the death of another session is an old one
 * @property {number} nextSeq  0 … 255
 * @property {Definitions} metrics  its own
 * @property {Map<string, Definitions>} devices  those born, by id
 */

/** Nodes and devices together. */
const MAX_SOURCES = 10_000
/** Metrics of all of them, each about half a kilobyte. */
const MAX_METRICS = 500_000

/** Messages without samples: the states and commands of hosts. */
const OF_HOSTS = new Set(['STATE', 'NCMD', 'DCMD'])

/**
 * Reads what edge nodes publish under `spBv1.0/#` (Eclipse Sparkplug 3.0) into batches. It knows nothing of MQTT. The owner of the
 * connection
 *
 * - subscribes to `ALL_TOPICS` (topic.js) and passes every message to `receive`, in order of arrival; keeps what that refuses, and passes
 *   on the batches, whose times are recorded ones;
 * - publishes, when `requestRebirth` is called, `encodeRebirthCommand(now)` (codec.js) to `topicOf({ type: 'NCMD', groupId, nodeId })`, QoS
 *   0, not retained;
 * - calls `reconnected()` when messages may have been missed.
 *
 * The source of a batch is `<group>.<node>` or `<group>.<node>.<device>`; its tags are `group`, `node` and `device`. Fields are named like
 * the metrics; an array has one for each element: `name[0]`, …. Metrics with the same time are one row; historical ones come in batches of
 * their own with the tag `historical` = `true`. A birth gives a row too, with the current values. After a death there is a row in which
 * everything is missing, with the quality `offline`. Metrics marked transient, those that control the session (`bdSeq`, `Node Control/…`)
 * and definitions of templates are left out.
 *
 * What comes before a birth, or with a name or alias that the birth does not have, is refused, and a rebirth of the node is requested: at
 * once, again after 10 s, then less and less often. After a gap in its sequence one is requested too, but the data are accepted: aliases
 * hold until the next birth. What is refused is a metric, `index` being its number in the payload, or the whole payload as bytes.
 */
export class SparkplugHost {
  /**
   * `leftOut`: values that are not to be stored; `unstorable`: of metrics that cannot be, such as a DataSet, beyond the first, which is
   * refused; `oldDeaths`: of earlier sessions.
   */
  counters = { gaps: 0, rebirthsRequested: 0, oldDeaths: 0, leftOut: 0, unstorable: 0 }
  /** Live nodes, by group and node. @type {Map<string, Node>} */
  #nodes = new Map()
  #sources = 0
  #rebirths = new Rebirths()
  #requestRebirth
  #now
  #maxSources
  #maxMetrics

  /**
   * @param {object} options
   * @param {(groupId: string, nodeId: string) => void} options.requestRebirth
   * @param {() => bigint} [options.now]  nanoseconds since 1970
   * @param {number} [options.maxSources]  nodes and devices together: births of more are refused
   * @param {number} [options.maxMetrics]  of all nodes and devices: likewise
   */
  constructor ({ requestRebirth, now = nowNs, maxSources = MAX_SOURCES, maxMetrics = MAX_METRICS }) {
    this.#requestRebirth = requestRebirth
    this.#now = now
    this.#maxSources = maxSources
    this.#maxMetrics = maxMetrics
  }

  /**
   * Never throws for what is in a message.
   * @param {string} topic @param {Uint8Array} bytes
   * @returns {{batches: Batch[], refused: Refused[]}}
   */
  receive (topic, bytes) {
    const parsed = parseTopic(topic)
    if (!parsed) return refusedWhole('its topic is not one of Sparkplug\'s', bytes)
    if (OF_HOSTS.has(parsed.type)) return { batches: [], refused: [] }
    const { type, ...descriptor } = /** @type {Topic} */ (parsed)
    if (sourceOf(descriptor).length > MAX_NAME) {
      return refusedWhole(`its group, node and device have over ${MAX_NAME} characters together`, bytes)
    }
    try {
      const reading = new Reading(decodePayload(bytes), bytes, this.#now)
      this.#handlers[type]?.(descriptor, reading)
      this.counters.leftOut += reading.leftOut
      this.counters.unstorable += reading.unstorable
      return reading.result()
    } catch (error) {
      return refusedWhole(describe(error), bytes)
    }
  }

  /** Messages may have been missed: requests a rebirth of every live node. */
  reconnected () {
    for (const key of this.#nodes.keys()) this.#request(key)
  }

  /** For the stats. */
  gauge () {
    let devices = 0
    for (const node of this.#nodes.values()) devices += node.devices.size
    return { nodes: this.#nodes.size, devices, metrics: this.#metrics(), ...this.counters }
  }

  #metrics () {
    let metrics = 0
    for (const node of this.#nodes.values()) {
      metrics += node.metrics.size
      for (const definitions of node.devices.values()) metrics += definitions.size
    }
    return metrics
  }

  /** @typedef {import('./reading.js').Descriptor} Descriptor */
  /** @type {Record<string, (descriptor: Descriptor, reading: Reading) => void>} */
  #handlers = {
    NBIRTH: (descriptor, reading) => {
      const key = keyOf(descriptor)
      const { bdSeq } = reading
      const before = this.#nodes.get(key)
      const isSameSession = before?.bdSeq === bdSeq
      if (!this.#accepts(reading, before?.metrics)) return
      if (before && !isSameSession) this.#buryDevices(descriptor, before, reading)
      const metrics = reading.takeBirth(descriptor, before?.metrics)
      this.#nodes.set(key, { bdSeq, nextSeq: after(reading.seq ?? 0), metrics, devices: before?.devices ?? new Map() })
      this.#rebirths.born(key)
    },

    DBIRTH: (descriptor, reading) => {
      const node = this.#bornNode(descriptor, reading)
      const before = node?.devices.get(deviceOf(descriptor))
      if (!node || !this.#accepts(reading, before)) return
      node.devices.set(deviceOf(descriptor), reading.takeBirth(descriptor, before))
    },

    NDATA: (descriptor, reading) => {
      const node = this.#bornNode(descriptor, reading)
      if (node && !reading.takeData(descriptor, node.metrics)) this.#request(keyOf(descriptor))
    },

    DDATA: (descriptor, reading) => {
      const node = this.#bornNode(descriptor, reading)
      if (!node) return
      const metrics = node.devices.get(deviceOf(descriptor))
      if (!metrics) reading.refuse('its device is not born: a rebirth was requested')
      if (!metrics || !reading.takeData(descriptor, metrics)) this.#request(keyOf(descriptor))
    },

    NDEATH: (descriptor, reading) => {
      const node = this.#nodes.get(keyOf(descriptor))
      if (!node) return
      if (node.bdSeq !== reading.bdSeq) {
        this.counters.oldDeaths++
        return
      }
      reading.takeDeath(descriptor, node.metrics, this.#now()) // a will carries the time of its connect
      this.#buryDevices(descriptor, node, reading)
      this.#nodes.delete(keyOf(descriptor))
      this.#sources--
    },

    DDEATH: (descriptor, reading) => {
      const node = this.#bornNode(descriptor, reading)
      const metrics = node?.devices.get(deviceOf(descriptor))
      if (!node || !metrics) return
      reading.takeDeath(descriptor, metrics)
      node.devices.delete(deviceOf(descriptor))
      this.#sources--
    }
  }

  /**
   * The node of a message, which its sequence number must follow.
   * @param {Descriptor} descriptor @param {Reading} reading
   * @returns {Node|undefined} undefined, and the message refused, where it is not born
   */
  #bornNode (descriptor, reading) {
    const node = this.#nodes.get(keyOf(descriptor))
    if (!node) {
      reading.refuse('its node is not born: a rebirth was requested')
      this.#request(keyOf(descriptor))
      return undefined
    }
    const { seq = -1 } = reading
    if (seq !== node.nextSeq) {
      this.counters.gaps++
      this.#request(keyOf(descriptor))
    }
    node.nextSeq = after(seq)
    return node
  }

  /** @param {Descriptor} descriptor @param {Node} node @param {Reading} reading */
  #buryDevices ({ groupId, nodeId }, node, reading) {
    for (const [deviceId, metrics] of node.devices) reading.takeDeath({ groupId, nodeId, deviceId }, metrics, this.#now())
    this.#sources -= node.devices.size
    node.devices.clear()
  }

  /** @param {Reading} reading  of a birth @param {Definitions} [before]  of the same node or device */
  #accepts (reading, before) {
    if (this.#metrics() - (before?.size ?? 0) + reading.metrics > this.#maxMetrics) {
      reading.refuse(`all nodes and devices together would have more than ${this.#maxMetrics} metrics`)
      return false
    }
    if (before) return true
    const hasRoom = this.#sources < this.#maxSources
    if (hasRoom) this.#sources++
    else reading.refuse(`there are already ${this.#maxSources} nodes and devices`)
    return hasRoom
  }

  /** @param {string} key */
  #request (key) {
    if (!this.#rebirths.isDue(key, Number(msOf(this.#now())))) return
    this.counters.rebirthsRequested++
    const [groupId, nodeId] = key.split('/')
    this.#requestRebirth(groupId, nodeId)
  }
}

/** @param {Descriptor} descriptor */
function keyOf ({ groupId, nodeId }) {
  return `${groupId}/${nodeId}`
}

/** @param {Descriptor} descriptor  of a device */
function deviceOf ({ deviceId = '' }) {
  return deviceId
}

/** @param {number} seq */
function after (seq) {
  return (seq + 1) % 256
}

/** @param {string} reason @param {Uint8Array} value */
function refusedWhole (reason, value) {
  return { batches: [], refused: [{ index: -1, reason, value }] }
}
