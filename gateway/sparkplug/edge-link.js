import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { makePrivateFolder, replaceFile } from '../base/files.js'
import { nowNs } from '../clock/system-clock.js'
import { describe } from '../base/errors.js'
import { encodeDeath, SparkplugEdge } from './edge.js'
import { stateOf, stateTopic, topicOf } from './topic.js'

/**
 * @typedef {object} EdgeOptions
 * @property {import('../../broker/connection/connection.js').BrokerOptions} broker
 * @property {string} clientId
 * @property {string} groupId
 * @property {string} nodeId
 * @property {string} [deviceId]  of all batches, see `SparkplugEdge`; default: each belongs to the device named like its source
 * @property {string} [primaryHostId]  publishes only while this host application reports that it is online
 * @property {number} [maxHeldValues]
 * @property {string} bdSeqFile  stores the number of the last session
 * @property {import('../base/log.js').Log} log
 */

/** With more waiting in the socket, batches are held back. */
const MAX_WAITING_BYTES = 1024 * 1024

/** @param {EdgeOptions} options */
export async function openEdge (options) {
  const { bdSeqFile } = options
  await makePrivateFolder(dirname(bdSeqFile))
  const text = await readFile(bdSeqFile, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const last = /^\d+$/.test(text.trim()) ? Number(text) : -1
  return new EdgeLink(options, last)
}

/**
 * An edge node on its own connection, whose will is its death. Each attempt to connect is a new session, numbered 0 … 255, also across
 * restarts.
 */
class EdgeLink {
  #options
  #bdSeq
  #edge
  #connection
  /** The primary host's last state. @type {{online: boolean, timestamp: number}} */
  #host = { online: false, timestamp: 0 }
  #isSubscribed = false
  #isClosed = false

  /** @param {EdgeOptions} options @param {number} lastBdSeq */
  constructor (options, lastBdSeq) {
    this.#options = options
    this.#bdSeq = next(lastBdSeq)
    const { broker, clientId, groupId, nodeId, deviceId, maxHeldValues, log } = options
    this.#connection = connect(broker, { clientId, will: this.#will(), log })
    const { client } = this.#connection
    this.#edge = new SparkplugEdge({
      groupId,
      nodeId,
      deviceId,
      maxHeldValues,
      outlet: {
        publish: (topic, payload) => { client.publish(topic, payload, { qos: 0 }) },
        hasRoom: () => client.stream.writableLength < MAX_WAITING_BYTES
      }
    })
    client.on('reconnect', () => {
      this.#bdSeq = next(this.#bdSeq)
      client.options.will = this.#will()
    })
    client.on('connect', () => this.#connected())
    client.on('close', () => {
      this.#isSubscribed = false
      this.#host.online = false // until it reports so again: its state is retained
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

  /** Publishes the node's death, and ends its connection. */
  async close () {
    this.#isClosed = true
    this.#publishDeath()
    await this.#connection.close()
  }

  async #connected () {
    const { client } = this.#connection
    const { groupId, nodeId, primaryHostId, bdSeqFile, log } = this.#options
    const bdSeq = this.#bdSeq
    const isCurrent = () => bdSeq === this.#bdSeq && client.connected
    // Without commands or the file, samples are sent nevertheless.
    const warn = (/** @type {unknown} */ error) => isCurrent() && log.warn(describe(error))
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
    if (primaryHostId && topic === stateTopic(primaryHostId)) this.#hostState(payload)
    else this.#edge.command(payload)
  }

  /** The state of the primary host: one older than the last does not count (specification 3.0, chapter 5). @param {Buffer} payload */
  #hostState (payload) {
    const state = stateOf(payload)
    if (!state || state.timestamp < this.#host.timestamp) return
    this.#host = state
    if (state.online) return this.#begin()
    if (!this.#edge.isOnline) return
    this.#publishDeath()
    this.#connection.client.end(() => { if (!this.#isClosed) this.#connection.client.reconnect() })
  }

  #publishDeath () {
    if (!this.#edge.isOnline) return
    const { topic, payload } = this.#will()
    this.#edge.end()
    this.#connection.client.publish(topic, payload, { qos: 1 })
  }

  #will () {
    const { groupId, nodeId } = this.#options
    return {
      topic: topicOf({ type: 'NDEATH', groupId, nodeId }),
      payload: encodeDeath(BigInt(this.#bdSeq), nowNs()),
      qos: /** @type {const} */ (1),
      retain: false
    }
  }
}

/** @param {number} bdSeq */
function next (bdSeq) {
  return (bdSeq + 1) % 256
}
