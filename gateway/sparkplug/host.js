import { nowNs } from '../clock/system-clock.js'
import { MAX_NAME } from '../messages/gatherer.js'
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
 * @property {bigint|undefined} bdSeq  of its session: a death of another is an old one
 * @property {number} nextSeq  0 … 255
 * @property {Definitions} metrics  its own
 * @property {Map<string, Definitions>} devices  those that are born, by id
 */

/** Nodes and devices together. */
const MAX_SOURCES = 10_000

/** Messages that say nothing about samples: the states of hosts, and their commands. */
const OF_HOSTS = new Set(['STATE', 'NCMD', 'DCMD'])

/**
 * Reads what edge nodes publish under `spBv1.0/#` (Eclipse Sparkplug 3.0) into batches. It knows nothing of MQTT. Who owns the connection
 *
 * - subscribes to `ALL_TOPICS` (topic.js) and gives every message to `receive`, in the order they came; keeps what it refuses, and passes
 *   on the batches, whose times are recorded ones;
 * - publishes, when `requestRebirth` is called, `encodeRebirthCommand(now)` (codec.js) to `topicOf({ type: 'NCMD', groupId, nodeId })`, QoS
 *   0, not retained;
 * - calls `reconnected()` when messages may have been missed.
 *
 * The source of a batch is `<group>.<node>` or `<group>.<node>.<device>`; its tags are `group`, `node` and `device`. Fields are named as
 * the metrics; an array has one for each element: `name[0]`, ….
 * Metrics with one time are one row; historical ones come in batches of their own with the tag `historical` = `true`. A birth gives a row
 * too: it carries the values of its moment. After a death
 * there is a row in which everything is missing, with the quality `offline`. Metrics marked transient, those that steer the session
 * (`bdSeq`, `Node Control/…`) and definitions of templates are left out.
 *
 * What comes before a birth, or with a name or alias that the birth has not, is refused, and the node is asked for its births: at once,
 * again after 10 s, then ever less. After a gap in
 * its sequence it is asked too, but what it says is taken: aliases hold until the next birth. What is refused is a metric, `index` counting
 * those of the payload, or all of the payload, its bytes.
 */
export class SparkplugHost {
  /** `leftOut`: values that are not to be stored; `oldDeaths`: of sessions that another has followed. */
  counters = { gaps: 0, rebirthsRequested: 0, oldDeaths: 0, leftOut: 0 }
  /** Those that are alive, by group and node. @type {Map<string, Node>} */
  #nodes = new Map()
  #sources = 0
  #rebirths = new Rebirths()
  #requestRebirth
  #now
  #mostSources

  /**
   * @param {object} options
   * @param {(groupId: string, nodeId: string) => void} options.requestRebirth
   * @param {() => bigint} [options.now]  nanoseconds since 1970
   * @param {number} [options.mostSources]  nodes and devices together: births of more are refused
   */
  constructor ({ requestRebirth, now = nowNs, mostSources = MAX_SOURCES }) {
    this.#requestRebirth = requestRebirth
    this.#now = now
    this.#mostSources = mostSources
  }

  /**
   * Never throws for what is in a message.
   * @param {string} topic @param {Uint8Array} bytes
   * @returns {{batches: Batch[], refused: Refused[]}}
   */
  receive (topic, bytes) {
    const parsed = parseTopic(topic)
    if (!parsed) return refusedWhole('its topic is none of Sparkplug\'s', bytes)
    if (OF_HOSTS.has(parsed.type)) return { batches: [], refused: [] }
    const { type, ...place } = /** @type {Topic} */ (parsed)
    if (sourceOf(place).length > MAX_NAME) return refusedWhole(`its group, node and device have over ${MAX_NAME} characters together`, bytes)
    try {
      const reading = new Reading(decodePayload(bytes), bytes, this.#now)
      this.#handlers[type]?.(place, reading)
      this.counters.leftOut += reading.leftOut
      return reading.result()
    } catch (error) {
      return refusedWhole(describe(error), bytes)
    }
  }

  /** Messages may have been missed: asks every node that is alive for its births. */
  reconnected () {
    for (const key of this.#nodes.keys()) this.#ask(key)
  }

  /** For the stats. */
  gauge () {
    let devices = 0
    let metrics = 0
    for (const node of this.#nodes.values()) {
      devices += node.devices.size
      for (const definitions of [node.metrics, ...node.devices.values()]) metrics += definitions.size
    }
    return { nodes: this.#nodes.size, devices, metrics, ...this.counters }
  }

  /** @typedef {import('./reading.js').Place} Place */
  /** @type {Record<string, (place: Place, reading: Reading) => void>} */
  #handlers = {
    NBIRTH: (place, reading) => {
      const key = keyOf(place)
      const { bdSeq } = reading
      const before = this.#nodes.get(key)
      const isSameSession = before?.bdSeq === bdSeq
      if (!before && !this.#takesOne(reading)) return
      if (before && !isSameSession) this.#buryDevices(place, before, reading)
      const metrics = reading.takeBirth(place)
      this.#nodes.set(key, { bdSeq, nextSeq: after(reading.seq ?? 0), metrics, devices: before?.devices ?? new Map() })
      this.#rebirths.born(key)
    },

    DBIRTH: (place, reading) => {
      const node = this.#bornNode(place, reading)
      if (!node || (!node.devices.has(deviceOf(place)) && !this.#takesOne(reading))) return
      node.devices.set(deviceOf(place), reading.takeBirth(place))
    },

    NDATA: (place, reading) => {
      const node = this.#bornNode(place, reading)
      if (node && !reading.takeData(place, node.metrics)) this.#ask(keyOf(place))
    },

    DDATA: (place, reading) => {
      const node = this.#bornNode(place, reading)
      if (!node) return
      const metrics = node.devices.get(deviceOf(place))
      if (!metrics) reading.refuse('its device is not born: a rebirth was asked for')
      if (!metrics || !reading.takeData(place, metrics)) this.#ask(keyOf(place))
    },

    NDEATH: (place, reading) => {
      const node = this.#nodes.get(keyOf(place))
      if (!node) return
      if (node.bdSeq !== reading.bdSeq) {
        this.counters.oldDeaths++
        return
      }
      reading.takeDeath(place, node.metrics, this.#now()) // a will carries the time of its connect
      this.#buryDevices(place, node, reading)
      this.#nodes.delete(keyOf(place))
      this.#sources--
    },

    DDEATH: (place, reading) => {
      const node = this.#bornNode(place, reading)
      const metrics = node?.devices.get(deviceOf(place))
      if (!node || !metrics) return
      reading.takeDeath(place, metrics)
      node.devices.delete(deviceOf(place))
      this.#sources--
    }
  }

  /**
   * The node of a message, which its sequence number must follow.
   * @param {Place} place @param {Reading} reading
   * @returns {Node|undefined} undefined, and the message refused, where it is not born
   */
  #bornNode (place, reading) {
    const node = this.#nodes.get(keyOf(place))
    if (!node) {
      reading.refuse('its node is not born: a rebirth was asked for')
      this.#ask(keyOf(place))
      return undefined
    }
    const { seq = -1 } = reading
    if (seq !== node.nextSeq) {
      this.counters.gaps++
      this.#ask(keyOf(place))
    }
    node.nextSeq = after(seq)
    return node
  }

  /** @param {Place} place @param {Node} node @param {Reading} reading */
  #buryDevices ({ groupId, nodeId }, node, reading) {
    for (const [deviceId, metrics] of node.devices) reading.takeDeath({ groupId, nodeId, deviceId }, metrics, this.#now())
    this.#sources -= node.devices.size
    node.devices.clear()
  }

  /** @param {Reading} reading  of a birth */
  #takesOne (reading) {
    const hasRoom = this.#sources < this.#mostSources
    if (hasRoom) this.#sources++
    else reading.refuse(`there are already ${this.#mostSources} nodes and devices`)
    return hasRoom
  }

  /** @param {string} key */
  #ask (key) {
    if (!this.#rebirths.isDue(key, Number(msOf(this.#now())))) return
    this.counters.rebirthsRequested++
    const [groupId, nodeId] = key.split('/')
    this.#requestRebirth(groupId, nodeId)
  }
}

/** @param {Place} place */
function keyOf ({ groupId, nodeId }) {
  return `${groupId}/${nodeId}`
}

/** @param {Place} place  of a device */
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
