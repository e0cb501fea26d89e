import { isIP } from 'node:net'
import * as kafka from '@platformatic/kafka'
import { brokersIn } from './brokers.js'

/**
 * The requests to a cluster. Each is sent once, with nothing repeated behind the back of whoever knows what a repetition would mean.
 *
 * @typedef {object} ConnectionOptions
 * @property {string} host  of one or more brokers, with commas between them; each may have a port of its own
 * @property {number} port
 * @property {'none'|'scram-sha-512'|'scram-sha-256'|'plain'} login
 * @property {string} user
 * @property {string} password
 *
 * @typedef {{client: (name?: string) => KafkaClient}} Cluster
 * @typedef {import('./brokers.js').Broker} Broker
 * @typedef {{id: string, partitions: {leader: number, leaderEpoch: number, replicas: number}[]}} Topic
 * @typedef {{partitions: number, configs?: Record<string, string>}} TopicOptions  -1: as many as the brokers' configuration has
 * @typedef {{async: (...args: any[]) => Promise<any>}} Api  of one version
 *
 * @typedef {object} Told  by a broker
 * @property {string} clusterId
 * @property {number} controllerId
 * @property {(Broker & {nodeId: number})[]} brokers
 * @property {{errorCode: number, name: string, topicId: string, isInternal: boolean, topicAuthorizedOperations: number, partitions: {
 *   partitionIndex: number, leaderId: number, leaderEpoch: number, replicaNodes: number[]
 * }[]}[]} topics
 */

/** Below the 15 s that Node-RED leaves a node to close. */
const CONNECT_TIMEOUT_MS = 10_000

/** A broker that is alive says so, or what it waits for, by then. */
const ANSWER_TIMEOUT_MS = 30_000

/** What a closing connection has not sent by then is given up: a broker that reads nothing would hold it until the request is late. */
const UNSENT_MS = 1000

/** What was told of topics is believed for so long. */
const KNOWN_MS = 10_000

const TOPIC_RESOURCE = 2
const ANYBODY = -1
const [NONE, UNKNOWN_TOPIC] = [0, 3]

export class KafkaClient {
  #options
  #tls
  #name
  /** @type {kafka.ConnectionPool|null} */
  #opened = null
  #disconnects = 0
  #named
  #brokers
  #controller = ANYBODY
  /** Brokers that gave no answer last: they come after all others. @type {Set<string>} */
  #silent = new Set()
  /** @type {Map<string, {topic: Promise<Topic|null>, atMs: number}>} */
  #topics = new Map()
  #isKnown = false

  /**
   * @param {ConnectionOptions} options
   * @param {() => import('node:tls').SecureContextOptions|undefined} [tls]  asked when it connects; undefined where brokers expect no TLS
   * @param {string} [name]  as brokers show it to others
   * @param {Map<number, Broker>} [brokers]  by number, each as the cluster named it last, to this client or another: the one that is named
   *   in the options may be away, and so may be those that the last answer had
   */
  constructor (options, tls = () => undefined, name = 'sluice', brokers = new Map()) {
    this.#options = options
    this.#brokers = brokers
    this.#named = brokersIn(options)
    this.#tls = tls
    this.#name = name
  }

  /** Another number: what was connected once may be another cluster by now, or this one as it was some time ago. */
  get disconnects () { return this.#disconnects }

  /** Of the cluster, as a broker tells it now. */
  async cluster () {
    const { clusterId, brokers } = await this.#tell([])
    return { id: /** @type {string} */ (clusterId), brokers: new Map(brokers.map(({ nodeId, ...broker }) => [nodeId, broker])) }
  }

  /** Null where there is none. @param {string} name @param {{isFresh?: boolean}} [options] @returns {Promise<Topic|null>} */
  async topic (name, { isFresh = false } = {}) {
    const known = this.#topics.get(name)
    if (known && !isFresh && performance.now() - known.atMs < KNOWN_MS) return known.topic
    const topic = this.#find(name)
    this.#topics.set(name, { topic, atMs: performance.now() })
    const drop = () => { if (this.#topics.get(name)?.topic === topic) this.#topics.delete(name) }
    topic.then(found => { if (!found) drop() }, drop)
    return topic
  }

  /**
   * What is there of them, as a broker tells it now. One that is missing, or that may not be described, keeps nothing of the others back.
   * @param {string[]|null} names  null: all of the cluster but Kafka's own
   * @returns {Promise<Map<string, Topic>>}
   */
  async topics (names) {
    const { topics } = await this.#tell(names)
    const there = topics.filter(({ errorCode, isInternal }) => errorCode === NONE && !isInternal)
    const found = new Map(there.map(told => [told.name, topicOf(told)]))
    const atMs = performance.now()
    for (const [name, topic] of found) if (this.#topics.has(name)) this.#topics.set(name, { topic: Promise.resolve(topic), atMs })
    return found
  }

  /**
   * What this user may do with topics, as Kafka names it, or all where brokers do not tell; null where they are not there, or not shown.
   * @param {string[]} names
   * @returns {Promise<Map<string, Set<string>|null>>}
   */
  async rightsTo (names) {
    const { topics } = await this.#tell(names, true)
    return new Map(topics.map(({ name, errorCode, topicAuthorizedOperations: bits }) => {
      const allowed = OPERATIONS.filter(([, bit]) => bits === NOT_TOLD || bits & 1 << bit)
      return [name, errorCode === NONE ? new Set(allowed.map(([operation]) => operation)) : null]
    }))
  }

  /** Whether the broker can be reached where the cluster says it is. @param {number} node */
  async reach (node) {
    await this.#know()
    await this.#pool.get(/** @type {Broker} */ (this.#brokers.get(node)))
  }

  /**
   * Creates it where there is none.
   * @param {string} topic
   * @param {TopicOptions} options
   */
  async ensureTopic (topic, options) {
    const found = await this.topic(topic, { isFresh: true })
    if (found) return found
    try {
      await this.createTopic(topic, options)
    } catch (error) {
      if (!isAnswer(error, 'TOPIC_ALREADY_EXISTS')) throw error
    }
    const created = await this.topic(topic, { isFresh: true })
    if (created) return created
    throw new kafka.ProtocolError('UNKNOWN_TOPIC_OR_PARTITION')
  }

  /**
   * @param {string} topic
   * @param {TopicOptions} options
   * @param {{isTrial?: boolean}} [more]  whether only to say what would come of it
   * @returns {Promise<{replicas: number, configs: Map<string, string>}>}
   */
  async createTopic (topic, { partitions, configs = {} }, { isTrial = false } = {}) {
    const wanted = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const create = [{ name: topic, numPartitions: partitions, replicationFactor: -1, assignments: [], configs: wanted }]
    await this.#know()
    const { topics: [created] } = await this.ask(kafka.createTopicsV7.api, this.#controller, create, ANSWER_TIMEOUT_MS, isTrial)
    return { replicas: created.replicationFactor, configs: configsIn(created.configs ?? []) }
  }

  /** @param {string} topic @param {string[]} names @returns {Promise<Map<string, string>>} */
  async configsOf (topic, names) {
    const wanted = [{ resourceType: TOPIC_RESOURCE, resourceName: topic, configurationKeys: names }]
    const { results: [{ configs }] } = await this.ask(kafka.describeConfigsV4.api, ANYBODY, wanted, false, false)
    return configsIn(configs)
  }

  /**
   * @param {Api} api
   * @param {number} node  the broker's number; -1 for any of them
   * @param {...any} args
   */
  async ask (api, node, ...args) {
    if (node === ANYBODY) return this.#askAnybody(api, ...args)
    await this.#know()
    const broker = this.#brokers.get(node)
    if (broker) return this.#hear(nameOf(broker), async () => api.async(await this.#pool.get(broker), ...args))
    this.#isKnown = false
    throw new kafka.NetworkError(`broker ${node} is away`)
  }

  /** Whatever was known of brokers and topics may have changed. */
  forget () {
    this.#isKnown = false
    this.#topics.clear()
  }

  async close () {
    const connections = [...this.#opened ?? []]
    const late = setTimeout(() => { for (const [, { socket }] of connections) socket?.destroy() }, UNSENT_MS)
    await this.#opened?.close()
    clearTimeout(late)
  }

  async #know () {
    if (!this.#isKnown) await this.#tell([])
  }

  /** @param {string} name */
  async #find (name) {
    const { topics: [told] } = await this.#tell([name])
    if (told.errorCode === UNKNOWN_TOPIC) return null
    if (told.errorCode !== NONE) throw new kafka.ProtocolError(told.errorCode)
    return topicOf(told)
  }

  /**
   * What a broker knows of the cluster, and of these topics.
   * @param {string[]|null} names
   * @param {boolean} [withRights]
   * @returns {Promise<Told>}
   */
  async #tell (names, withRights = false) {
    const told = await this.#askAnybody(metadataOf, names, false, withRights).catch(error => error.response ?? Promise.reject(error))
    for (const { nodeId, host, port } of told.brokers) this.#brokers.set(nodeId, { host, port })
    this.#controller = told.controllerId
    this.#isKnown = true
    return told
  }

  /**
   * A connection to one of the brokers that were named, or that the cluster has named: to whichever can be reached.
   * @returns {Promise<[name: string, connection: kafka.Connection]>}
   */
  async #anyConnection () {
    const brokers = new Map([...this.#brokers.values(), ...this.#named].map(broker => [nameOf(broker), broker]))
    const order = [...brokers].sort(([a], [b]) => Number(this.#silent.has(a)) - Number(this.#silent.has(b)))
    /** @type {Error[]} */
    const errors = []
    for (const [name, broker] of order) {
      try {
        return [name, await this.#pool.get(broker)]
      } catch (error) {
        if (isLoginRefused(error)) throw error
        this.#silent.add(name)
        errors.push(/** @type {Error} */ (error))
      }
    }
    throw errors.length === 1 ? errors[0] : new kafka.MultipleErrors('No broker can be reached', errors)
  }

  /** @param {Api} api @param {...any} args */
  async #askAnybody (api, ...args) {
    const [name, connection] = await this.#anyConnection()
    return this.#hear(name, () => api.async(connection, ...args))
  }

  /** @template T @param {string} name  of a broker @param {() => Promise<T>} ask @returns {Promise<T>} */
  async #hear (name, ask) {
    try {
      const answer = await ask()
      this.#silent.delete(name)
      return answer
    } catch (error) {
      if (!isAnswered(error)) this.#silent.add(name)
      throw error
    }
  }

  get #pool () {
    if (this.#opened) return this.#opened
    const { login, user, password } = this.#options
    const tls = this.#tls()
    this.#opened = new kafka.ConnectionPool(this.#name, {
      ...tls && { tls, tlsServerName: !this.#named.some(({ host }) => isIP(host)) },
      ...login !== 'none' && { sasl: { mechanism: /** @type {any} */ (login.toUpperCase()), username: user, password } },
      connectTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: ANSWER_TIMEOUT_MS
    })
    // Of one that is cut in its login the library says so twice, and listens once; who waits for it learns of it in any case.
    this.#opened.on('connecting', ({ connection }) => connection.on('error', () => {}))
    this.#opened.on('disconnect', () => { this.#disconnects++ })
    return this.#opened
  }
}

const metadataOf = kafka.metadataV12.api
const NOT_TOLD = -(2 ** 31)
/** As bits. @type {[string, number][]} */
const OPERATIONS = Object.entries(kafka.AclOperations)

/** @param {Broker} broker */
function nameOf ({ host, port }) {
  return `${host}:${port}`
}

/** @param {Told['topics'][0]} told @returns {Topic} */
function topicOf ({ topicId, partitions }) {
  return {
    id: topicId,
    partitions: partitions.toSorted((a, b) => a.partitionIndex - b.partitionIndex).map(({ leaderId, leaderEpoch, replicaNodes }) => {
      return { leader: leaderId, leaderEpoch, replicas: replicaNodes.length }
    })
  }
}

/** @param {{name: string, value: string|null}[]} configs */
function configsIn (configs) {
  return new Map(configs.map(({ name, value }) => [name, value ?? '']))
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

/** The library looks for that in what brokers answer, not below a connection that failed. @param {any} error @returns {boolean} */
function isLoginRefused (error) {
  return error !== undefined && (error.code === kafka.AuthenticationError.code || isLoginRefused(error.cause))
}

/** Whether a broker has answered, and did not let the request in for a reason of its own. @param {unknown} error */
export function isAnswered (error) {
  const codes = ['PLT_KFK_PROTOCOL', 'PLT_KFK_RESPONSE']
  return codes.some(code => kafka.findErrorBy(/** @type {Error} */ (error), 'code', code))
}
