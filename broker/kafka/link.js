import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoff } from '../../gateway/base/backoff.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { isForTopic } from '../topics.js'
import { Incoming } from './incoming.js'
import { Outgoing, OVERHEAD_BYTES } from './outgoing.js'
import { Reading } from './reading.js'
import { gatewayOf, onceCreated, STAGE_TOPICS, stagePartitionOf, stageTopicOf, stageTopicsFor } from './topics.js'

/**
 * @typedef {import('./topics.js').StageTopicName} StageTopicName
 * @typedef {import('../in/contract.js').Packet} Packet
 * @typedef {import('../../gateway/kafka/group.js').KafkaMessage} KafkaMessage
 * @typedef {import('../../gateway/databases/kafka/connection.js').KafkaServer} KafkaServer
 * @typedef {Record<StageTopicName, import('../../gateway/kafka/client.js').Topic>} Found  the topics as they are now
 *
 * @typedef {object} LinkOptions
 * @property {string} clientId
 * @property {string} [group]  whose members share the batches; without one all of them come, from now on, and are not acknowledged
 * @property {number} [window]  batches that are not acknowledged at a time
 * @property {(partitions: number[], all: number) => void} [onShare]  those of the batches that come here, of so many
 * @property {() => void} [onDouble]  another member of the group has this client id; again and again while that is so
 * @property {(problem: unknown) => void} onProblem  null: there is none
 */

/** @type {StageTopicName[]} */
const NAMES = ['data', 'heads', 'sinks', 'control', 'resent']
const WATCH_MS = 5000
const RETRY_MS = { first: 200, max: 3000, jitter: 0.5 }
const MAX_MESSAGE_BYTES = 'max.message.bytes'

/**
 * What staging needs of an MQTT client, over a Kafka cluster: it connects again without end, and passes on what its subscriptions are for.
 * `connect` says whether the session goes on: whether what was sent before is there, as far as can be seen. A topic that was deleted, or
 * made again, has lost it.
 */
export class KafkaLink extends EventEmitter {
  connected = false
  #options
  #server
  #client
  #outgoing
  /** @type {Incoming|null} */
  #incoming = null
  /** @type {Found|null} */
  #topics = null
  /** @type {Map<StageTopicName, Reading>} */
  #readings = new Map()
  /** @type {Set<string>} */
  #filters = new Set()
  /** The id of the topic that holds what was sent. */
  #session = ''
  /** A topic that a reader has found to be another one, or set back. */
  #lost = ''
  /** @type {Map<string, unknown>} by what has it */
  #problems = new Map()
  #isClosed = false
  /** Something may be wrong. */
  #alarm = Promise.withResolvers()
  /** @type {(packet: Packet, ack: () => void) => void} */
  #onMessage = (_packet, ack) => ack()

  /** @param {KafkaServer} server @param {LinkOptions} options */
  constructor (server, { window = 1000, onShare = () => {}, onDouble = () => {}, ...options }) {
    super()
    this.setMaxListeners(0)
    this.#options = { window, onShare, onDouble, ...options }
    this.#server = server
    this.#client = server.client()
    this.#outgoing = new Outgoing(this.#client, () => this.#alarm.resolve(undefined))
    this.options = { clientId: options.clientId }
    this.#run()
  }

  get isBehind () { return this.#incoming?.isBehind ?? false }

  get serverProperties () { return { maximumPacketSize: this.#outgoing.maxBytes } }

  /** @param {(packet: Packet, ack: () => void) => void} onMessage */
  receive (onMessage) { this.#onMessage = onMessage }

  /** @type {import('../client.js').BrokerClient['publish']} */
  publish (topic, payload, { retain = false }, callback) {
    const name = stageTopicOf(topic)
    if (!this.#topics) {
      callback?.(new Error('The cluster has not been reached yet'))
      return
    }
    const value = typeof payload === 'string' ? Buffer.from(payload) : payload
    const { partitions } = this.#topics[name]
    const partition = stagePartitionOf(name, topic, partitions.length)
    this.#outgoing.publish(STAGE_TOPICS[name].name, partition, topic, retain && value.length === 0 ? null : value, callback)
  }

  /** @type {import('../client.js').BrokerClient['subscribe']} */
  subscribe (filters, _options, callback) {
    this.#subscribe(filters).then(() => callback(null, filters.map(topic => ({ topic, qos: 1 }))), callback)
  }

  /** @param {string[]} filters */
  async subscribeAsync (filters) { await this.#subscribe(filters) }

  /** @param {string} filter */
  unsubscribe (filter) { this.#filters.delete(filter) }

  /** Nothing is given up for its size but by the brokers' own word. */
  removeOutgoingMessage () {}

  /** @param {number} patienceMs  for what has been published */
  async close (patienceMs) {
    for (const end = performance.now() + patienceMs; this.connected && !this.#outgoing.isIdle && performance.now() < end;) await sleep(10)
    this.#isClosed = true
    this.connected = false
    this.#outgoing.close()
    this.#alarm.resolve(undefined)
    await Promise.all([this.#incoming?.close(), this.#closeReadings()])
    await this.#client.close()
  }

  async #run () {
    for (let attempt = 0; !this.#isClosed; attempt++) {
      try {
        await this.#server.use(() => this.#open())
        attempt = 0
        this.#connect()
        await this.#server.use(() => this.#watch())
      } catch (error) {
        if (this.#isClosed) return
        this.connected = false
        this.#report('link', error)
        this.emit('close')
        this.#client.forget()
        await sleep(backoff(attempt, RETRY_MS), undefined, { ref: false })
      }
    }
  }

  /** @param {string} from @param {unknown} problem */
  #report (from, problem) {
    if (problem) this.#problems.set(from, problem)
    else this.#problems.delete(from)
    this.#options.onProblem(this.#problems.values().next().value ?? null)
  }

  async #open () {
    const found = await this.#findTopics()
    const isOther = this.#lost !== '' || NAMES.some(name => found[name].id !== this.#topics?.[name].id)
    this.#topics = found
    if (isOther) {
      this.#lost = this.#session = ''
      await this.#closeReadings()
      this.#outgoing.maxBytes = await this.#maxMessageBytes()
    }
  }

  /** @returns {Promise<Found>} */
  async #findTopics () {
    const found = await Promise.all(NAMES.map(async name => {
      const { name: topic, partitions, configs } = STAGE_TOPICS[name]
      return [name, await onceCreated(() => this.#client.ensureTopic(topic, { partitions, configs }))]
    }))
    return Object.fromEntries(found)
  }

  /** Of all topics; who may not ask for it learns of it with the first that is larger. */
  async #maxMessageBytes () {
    const limits = await Promise.all(NAMES.map(async name => {
      const configs = await this.#client.configsOf(STAGE_TOPICS[name].name, [MAX_MESSAGE_BYTES]).catch(() => new Map())
      return Number(configs.get(MAX_MESSAGE_BYTES) ?? 2 ** 20)
    }))
    return Math.min(...limits) - OVERHEAD_BYTES
  }

  #connect () {
    const { data } = /** @type {Found} */ (this.#topics)
    const sessionPresent = this.#session === data.id
    this.#session = data.id
    this.connected = true
    this.#report('link', null)
    this.emit('connect', { sessionPresent })
    this.#incoming?.again()
  }

  /** Until the cluster cannot be reached, or has lost something. */
  async #watch () {
    while (true) {
      await Promise.race([this.#alarm.promise, sleep(WATCH_MS, undefined, { ref: false })])
      this.#alarm = Promise.withResolvers()
      if (this.#isClosed) return
      if (this.#lost) throw lostTopic(this.#lost, this.#server.place)
      const topics = await this.#client.topics(NAMES.map(name => STAGE_TOPICS[name].name))
      const lost = NAMES.find(name => topics.get(STAGE_TOPICS[name].name)?.id !== this.#topics?.[name].id)
      if (lost) throw lostTopic(STAGE_TOPICS[lost].name, this.#server.place)
      this.#topics = /** @type {Found} */ (Object.fromEntries(NAMES.map(name => [name, topics.get(STAGE_TOPICS[name].name)])))
    }
  }

  /** @param {string[]} filters */
  async #subscribe (filters) {
    for (const filter of filters) this.#filters.add(filter)
    await Promise.all(NAMES.map(async name => {
      const its = filters.filter(filter => stageTopicsFor(filter).includes(name))
      if (its.length > 0) await this.#listenTo(name, its)
    }))
  }

  /** @param {StageTopicName} name @param {string[]} filters */
  async #listenTo (name, filters) {
    const { clientId, group, window, onShare, onDouble } = this.#options
    if (name === 'data' && group) {
      this.#incoming ??= new Incoming({
        cluster: this.#server,
        client: this.#client,
        group,
        name: clientId,
        onDouble,
        window,
        onMessage: (packet, ack) => this.#pass(packet.topic, packet.payload, false, ack),
        onShare: partitions => onShare(partitions, this.#topics?.data.partitions.length ?? 0),
        onProblem: problem => this.#report('group', problem)
      })
      return
    }
    const reading = this.#reading(name)
    await reading.read
    for (const [topic, payload] of reading.retained) {
      if (filters.some(filter => isForTopic(filter, topic))) this.#pass(topic, payload, true)
    }
  }

  /** Of what is subscribed to. @param {StageTopicName} name */
  #reading (name) {
    const all = [...this.#filters].filter(filter => stageTopicsFor(filter).includes(name)).map(gatewayOf)
    const gateways = all.includes(null) ? null : /** @type {string[]} */ (all)
    const before = this.#readings.get(name)
    if (before?.includes(gateways)) return before
    before?.close()
    const reading = new Reading(this.#server, {
      name,
      gateways,
      onMessage: (topic, payload) => { if (this.connected) this.#pass(topic, payload, false) },
      onLost: () => {
        this.#lost = STAGE_TOPICS[name].name
        this.#alarm.resolve(undefined)
      },
      onProblem: problem => this.#report(name, problem)
    })
    this.#readings.set(name, reading)
    return reading
  }

  async #closeReadings () {
    const readings = [...this.#readings.values()]
    this.#readings.clear()
    await Promise.all(readings.map(reading => reading.close()))
  }

  /** @param {string} topic @param {Buffer} payload @param {boolean} retain @param {() => void} [ack] */
  #pass (topic, payload, retain, ack = () => {}) {
    if (![...this.#filters].some(filter => isForTopic(filter, topic))) return ack()
    const packet = { topic, payload, retain, qos: 1 }
    this.emit('message', topic, payload, packet)
    this.#onMessage(packet, ack)
  }
}

/** @param {string} topic @param {string} place */
function lostTopic (topic, place) {
  return new SluiceError('SLUICE_KAFKA_TOPIC_LOST', `The topic ${topic} of ${place} was deleted, or made anew.`, {
    fix: 'What was in it and is not stored is sent again.'
  })
}
