import { isIP } from 'node:net'
import * as kafka from '@platformatic/kafka'

/**
 * The requests to a cluster. Each is sent once, with nothing repeated behind the back of whoever knows what a repetition would mean.
 *
 * @typedef {object} ConnectionOptions
 * @property {string} host  of one or more brokers, with commas between them
 * @property {number} port
 * @property {'none'|'scram-sha-512'|'scram-sha-256'|'plain'} login
 * @property {string} user
 * @property {string} password
 *
 * @typedef {{client: () => KafkaClient}} Cluster
 * @typedef {{id: string, partitions: {leader: number, leaderEpoch: number}[]}} Topic
 * @typedef {{async: (...args: any[]) => Promise<any>}} Api  of one version
 */

/** Below the 15 s that Node-RED leaves a node to close. */
const CONNECT_TIMEOUT_MS = 10_000

/** A broker that is alive says so, or what it waits for, by then. */
const ANSWER_TIMEOUT_MS = 30_000

const CLIENT_ID = 'sluice'
const TOPIC_RESOURCE = 2

export class KafkaClient {
  #options
  #tls
  /** @type {kafka.Admin|null} */
  #opened = null
  #disconnects = 0

  /**
   * @param {ConnectionOptions} options
   * @param {() => import('node:tls').SecureContextOptions|undefined} [tls]  asked when it connects; undefined where brokers expect no TLS
   */
  constructor (options, tls = () => undefined) {
    this.#options = options
    this.#tls = tls
  }

  /** Another number: what was connected once may be another cluster by now, or this one as it was some time ago. */
  get disconnects () { return this.#disconnects }

  /** Of the cluster, as a broker tells it now. */
  async cluster () {
    const { id, brokers } = await this.#admin.metadata({ forceUpdate: true })
    return { id, brokers: [...brokers.keys()] }
  }

  /** Null where there is none. @param {string} name @param {{isFresh?: boolean}} [options] @returns {Promise<Topic|null>} */
  async topic (name, { isFresh = false } = {}) {
    try {
      const { topics } = await this.#admin.metadata({ topics: [name], forceUpdate: isFresh })
      return topics.get(name) ?? null
    } catch (error) {
      if (isAnswer(error, 'UNKNOWN_TOPIC_OR_PARTITION') || /^Unknown topic/.test(/** @type {Error} */ (error).message)) return null
      throw error
    }
  }

  /**
   * What is there of them, as a broker tells it now. One that is missing, or that may not be described, keeps nothing of the others back.
   * @param {string[]|null} names  null: all of the cluster but Kafka's own
   * @returns {Promise<Map<string, Topic>>}
   */
  async topics (names) {
    const found = await this.ask(metadataOf, -1, names, false, false).catch(error => error.response ?? Promise.reject(error))
    const there = found.topics.filter((/** @type {any} */ { errorCode, isInternal }) => errorCode === 0 && !isInternal)
    return new Map(there.map((/** @type {any} */ topic) => [topic.name, { id: topic.topicId, partitions: leadersOf(topic.partitions) }]))
  }

  /**
   * Creates it where there is none.
   * @param {string} topic
   * @param {{partitions: number, configs?: Record<string, string>}} options  -1: as many as the brokers' configuration has
   */
  async ensureTopic (topic, { partitions, configs = {} }) {
    const found = await this.topic(topic, { isFresh: true })
    if (found) return found
    try {
      await this.#admin.createTopics({
        topics: [topic], partitions, replicas: -1, configs: Object.entries(configs).map(([name, value]) => ({ name, value }))
      })
    } catch (error) {
      if (!isAnswer(error, 'TOPIC_ALREADY_EXISTS')) throw error
    }
    const created = await this.topic(topic, { isFresh: true })
    if (created) return created
    throw new kafka.ProtocolError('UNKNOWN_TOPIC_OR_PARTITION')
  }

  /** @param {string} topic @param {string[]} names @returns {Promise<Map<string, string>>} */
  async configsOf (topic, names) {
    const [{ configs }] = await this.#admin.describeConfigs({
      resources: [{ resourceType: TOPIC_RESOURCE, resourceName: topic, configurationKeys: names }]
    })
    return new Map(configs.map(({ name, value }) => [name, value ?? '']))
  }

  /**
   * @param {Api} api
   * @param {number} node  the broker's number; -1 for any of them
   * @param {...any} args
   */
  async ask (api, node, ...args) {
    const { brokers } = await this.#admin.metadata({})
    const broker = brokers.get(node) ?? (node === -1 ? brokers.values().next().value : undefined)
    if (!broker) {
      this.#admin.clearMetadata()
      throw new kafka.NetworkError(`broker ${node} is away`)
    }
    return api.async(await this.#admin.connections.get(broker), ...args)
  }

  /** Whatever was known of brokers and topics may have changed. */
  forget () {
    this.#opened?.clearMetadata()
  }

  async close () {
    await this.#opened?.close()
  }

  get #admin () {
    if (this.#opened) return this.#opened
    const { host, port, login, user, password } = this.#options
    const tls = this.#tls()
    this.#opened = new kafka.Admin({
      clientId: CLIENT_ID,
      bootstrapBrokers: host.split(',').map(name => ({ host: name.trim(), port })),
      ...tls && { tls, tlsServerName: !isIP(host) },
      ...login !== 'none' && { sasl: { mechanism: /** @type {any} */ (login.toUpperCase()), username: user, password } },
      connectTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS,
      timeout: ANSWER_TIMEOUT_MS,
      retries: false
    })
    this.#opened.on('client:broker:disconnect', () => { this.#disconnects++ })
    return this.#opened
  }
}

const metadataOf = kafka.metadataV12.api

/** @param {{partitionIndex: number, leaderId: number, leaderEpoch: number}[]} partitions */
function leadersOf (partitions) {
  return partitions.toSorted((a, b) => a.partitionIndex - b.partitionIndex)
    .map(({ leaderId, leaderEpoch }) => ({ leader: leaderId, leaderEpoch }))
}

/** Whether an answer of a broker says so. @param {unknown} error @param {...string} ids  as Kafka names its errors */
export function isAnswer (error, ...ids) {
  return ids.some(id => kafka.findErrorBy(/** @type {Error} */ (error), 'apiId', id))
}

/**
 * What a broker or the network has said, by its own name: the library wraps it, several times where several partitions are concerned.
 * @param {any} error
 * @returns {Error & {code?: string}}
 */
export function reasonOf (error) {
  const inner = error.apiId ? undefined : error.errors?.[0] ?? error.cause
  if (inner) return reasonOf(inner)
  const code = error.apiId ?? (String(error.code).startsWith('PLT_') ? undefined : error.code)
  // The broker's own words, where it has any, say which name or limit it is about.
  return Object.assign(new Error((error.serverErrorMessage ?? error.message).replace(/\.$/, ''), { cause: error }), code && { code })
}

/** Whether a broker has answered, and did not let the request in for a reason of its own. @param {unknown} error */
export function isAnswered (error) {
  const codes = ['PLT_KFK_PROTOCOL', 'PLT_KFK_RESPONSE']
  return codes.some(code => kafka.findErrorBy(/** @type {Error} */ (error), 'code', code))
}
