import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { replaceFile } from '../base/files.js'
import { nowNs } from '../clock/system-clock.js'
import { describe } from '../base/errors.js'
import { encodeDeath, SparkplugEdge } from './edge.js'
import { stateTopic, topicOf } from './topic.js'

/**
 * @typedef {object} EdgeOptions
 * @property {import('../../broker/connection/connection.js').BrokerOptions} broker
 * @property {string} clientId
 * @property {string} groupId
 * @property {string} nodeId
 * @property {string} [deviceId]  of all batches; else each is of the device named as its source
 * @property {string} [primaryHostId]  only while this host application says that it is online is anything published
 * @property {number} [mostHeldValues]
 * @property {string} bdSeqFile  keeps the number of the last session
 * @property {import('../base/log.js').Log} log
 */

/** What waits in the socket before batches are held. */
const ENOUGH_WAITING_BYTES = 1024 * 1024

/** @param {EdgeOptions} options */
export async function openEdge (options) {
  const { bdSeqFile } = options
  await mkdir(dirname(bdSeqFile), { recursive: true })
  const text = await readFile(bdSeqFile, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const last = /^\d+$/.test(text.trim()) ? Number(text) : -1
  return new EdgeLink(options, last)
}

/**
 * An edge node on its own connection, whose will is its death. Each attempt to connect is a session of its own: they are counted 0 … 255,
 * over restarts too.
 */
class EdgeLink {
  #options
  #bdSeq
  #edge
  #connection
  /** What the primary host said last. @type {{online: boolean, timestamp: number}} */
  #host = { online: false, timestamp: 0 }
  #isSubscribed = false
  #isClosed = false

  /** @param {EdgeOptions} options @param {number} lastBdSeq */
  constructor (options, lastBdSeq) {
    this.#options = options
    this.#bdSeq = next(lastBdSeq)
    const { broker, clientId, groupId, nodeId, deviceId, mostHeldValues, log } = options
    this.#connection = connect(broker, { clientId, will: this.#will(), log })
    const { client } = this.#connection
    this.#edge = new SparkplugEdge({
      groupId,
      nodeId,
      deviceId,
      mostHeldValues,
      outlet: {
        publish: (topic, payload) => { client.publish(topic, payload, { qos: 0 }) },
        hasRoom: () => client.stream.writableLength < ENOUGH_WAITING_BYTES
      }
    })
    client.on('reconnect', () => {
      this.#bdSeq = next(this.#bdSeq)
      client.options.will = this.#will()
    })
    client.on('connect', () => this.#connected())
    client.on('close', () => {
      this.#isSubscribed = false
      this.#host.online = false // until it says so again: its state is retained
      this.#edge.end()
    })
    client.on('message', (topic, payload) => this.#receive(topic, payload))
  }

  /** @param {import('../batch/batch.js').Batch} batch */
  take (batch) {
    this.#edge.take(batch)
  }

  get state () {
    const { primaryHostId } = this.#options
    return {
      connected: this.#connection.client.connected,
      problem: this.#connection.problem,
      waitsForHost: this.#isSubscribed && primaryHostId && !this.#host.online ? primaryHostId : null,
      ...this.#edge.state
    }
  }

  /** Says that the node is dead, and ends its connection. */
  async close () {
    this.#isClosed = true
    this.#sayDeath()
    await this.#connection.close()
  }

  async #connected () {
    const { client } = this.#connection
    const { groupId, nodeId, primaryHostId, bdSeqFile, log } = this.#options
    const bdSeq = this.#bdSeq
    const isCurrent = () => bdSeq === this.#bdSeq && client.connected
    const warn = (/** @type {unknown} */ error) => { if (isCurrent()) log.warn(describe(error)) } // without commands or the file, samples are sent all the same
    client.stream.on('drain', () => this.#edge.drained())
    const topics = [topicOf({ type: 'NCMD', groupId, nodeId }), ...(primaryHostId ? [stateTopic(primaryHostId)] : [])]
    await replaceFile(bdSeqFile, `${bdSeq}\n`).catch(warn)
    await client.subscribeAsync(topics, { qos: 1 }).catch(warn)
    if (!isCurrent()) return
    this.#isSubscribed = true
    if (!primaryHostId || this.#host.online) this.#begin()
  }

  #begin () {
    if (this.#isSubscribed && !this.#edge.isOnline && !this.#isClosed) this.#edge.begin(BigInt(this.#bdSeq))
  }

  /** @param {string} topic @param {Buffer} payload */
  #receive (topic, payload) {
    const { primaryHostId } = this.#options
    if (primaryHostId && topic === stateTopic(primaryHostId)) this.#hear(payload)
    else this.#edge.command(payload)
  }

  /** The state of the primary host: an older one than is known does not count (specification 3.0, chapter 5). @param {Buffer} payload */
  #hear (payload) {
    const state = stateOf(payload)
    if (!state || state.timestamp < this.#host.timestamp) return
    this.#host = state
    if (state.online) return this.#begin()
    if (!this.#edge.isOnline) return
    this.#sayDeath()
    this.#connection.client.end(() => { if (!this.#isClosed) this.#connection.client.reconnect() })
  }

  #sayDeath () {
    if (!this.#edge.isOnline) return
    const { topic, payload } = this.#will()
    this.#edge.end()
    this.#connection.client.publish(topic, payload, { qos: 1 })
  }

  #will () {
    const { groupId, nodeId } = this.#options
    return { topic: topicOf({ type: 'NDEATH', groupId, nodeId }), payload: encodeDeath(BigInt(this.#bdSeq), nowNs()), qos: /** @type {const} */ (1), retain: false }
  }
}

/** @param {number} bdSeq */
function next (bdSeq) {
  return (bdSeq + 1) % 256
}

/** @param {Buffer} payload */
function stateOf (payload) {
  try {
    const { online, timestamp } = JSON.parse(payload.toString())
    return typeof online === 'boolean' && typeof timestamp === 'number' ? { online, timestamp } : null
  } catch {
    return null
  }
}
