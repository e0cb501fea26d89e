import { createHash } from 'node:crypto'
import { checkServerIdentity } from 'node:tls'
import cassandra from 'cassandra-driver'
import { withDefaults } from '../../base/defaults.js'
import { SluiceError } from '../../base/errors.js'
import { connectError, orPasswordMissing } from '../connecting/failure.js'
import { CONNECT_TIMEOUT_MS, orAborted, testInTime } from '../connecting/limits.js'
import { plainTextAdvice, tlsOptions } from '../connecting/tls.js'
import { quote } from '../names.js'
import { replicaAdvice, replicationOf, syncAdvice } from './advice.js'
import { schema } from './connection.schema.js'
import { reach, remainsOf, shutDownHosts } from './hosts.js'

export { schema }

/**
 * @typedef {import('cassandra-driver').Client} Client
 * @typedef {import('./hosts.js').Remains} Remains
 *
 * @typedef {object} ConnectionOptions
 * @property {string} host
 * @property {number} port
 * @property {string} dataCenter
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 */

const { auth, errors, policies, types } = cassandra

const MAX_REPLICAS = 3

/** A node that is gone is looked for again this often. The driver's own way is ever less often, up to ten minutes. */
const RECONNECT_MS = 500

/** Servers give up themselves after ten seconds at most: a node that is silent for longer is left alone until it answers again. */
const ANSWER_TIMEOUT_MS = 12_000

/**
 * A table is used before all nodes know it: what one of them refuses is tried again. As long as a node is away there is no agreement, and
 * each new table would take the driver's ten seconds.
 */
const AGREEMENT_S = 1

/** What servers and driver say of a login without a password. */
const NO_PASSWORD = [/password|requires authentication/i]

const LOGIN_FIX = 'Check user and password.'

/** @type {import('../connecting/failure.js').Fixes} */
const FIXES = [
  [/requires authentication/i, 'Set user and password.'],
  [/username .*password.* incorrect|bad credentials/i, LOGIN_FIX],
  [/localDataCenter was configured|data ?cent/i, 'Check the name of the data centre.']
]

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new CassandraServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)))
}

/** Connections to one cluster, opened when needed, and again where that has failed. */
export class CassandraServer {
  #options
  /** @type {Promise<Client>|null} */
  #client = null
  /** Also that which nobody waits for any more. @type {Set<Promise<unknown>>} */
  #works = new Set()
  /** What clients leave behind. @type {WeakMap<Client, Remains>} */
  #remains = new WeakMap()

  /** @param {ConnectionOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `Cassandra at ${this.#options.host}:${this.#options.port}, keyspace "${this.keyspace}"` }

  get keyspace () { return this.#options.database }

  /** @param {string} table  as the server calls it */
  nameOf (table) {
    return `${quote(this.keyspace)}.${quote(table)}`
  }

  /**
   * What comes after WITH where a table is made: nodes that are asked at the same time, or one of them long after, make the same table.
   * With ids of their own one would take the place of the other, and all that was stored in it would be gone.
   * @param {string} table
   */
  idOf (table) {
    const digest = createHash('sha256').update(this.nameOf(table)).digest('hex')
    return `id = ${digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5')}`
  }

  /**
   * @template T
   * @param {(client: Client) => Promise<T>} work
   * @param {AbortSignal} [signal]  what is under way at the server when it is aborted may still be stored
   * @returns {Promise<T>}
   * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_CONNECT
   */
  async use (work, signal) {
    signal?.throwIfAborted()
    try {
      return await orAborted(this.#kept(this.#connect().then(work)), signal)
    } catch (error) {
      const reason = reasonOf(error)
      if (signal?.aborted) throw reason
      if (isForbidden(reason)) throw forbidden(this.place, reason)
      if (!isConnection(reason)) throw reason
      throw connectError(this.place, orPasswordMissing(reason, this.place, this.#options, NO_PASSWORD), FIXES)
    }
  }

  /**
   * The columns of a table, none where it is missing. A server that was killed while it changed its schema may list what it does not have.
   * @param {Client} client
   * @param {string} table
   * @returns {Promise<string[]>}
   */
  async columnsOf (client, table) {
    try {
      const { columns } = await client.execute(`SELECT * FROM ${this.nameOf(table)} LIMIT 1`, [], { prepare: false })
      return columns.map(({ name }) => name)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

  /** @param {Client} client */
  async createKeyspace (client) {
    const { rows: [{ data_center: own }] } = await client.execute('SELECT data_center FROM system.local')
    const dataCenter = this.#options.dataCenter || own
    const nodes = client.hosts.values().filter(({ datacenter }) => datacenter === dataCenter).length
    await client.execute(`CREATE KEYSPACE IF NOT EXISTS ${quote(this.keyspace)} WITH replication = ` +
      `{'class': 'NetworkTopologyStrategy', '${dataCenter.replaceAll('\'', '\'\'')}': ${Math.min(MAX_REPLICAS, Math.max(1, nodes))}}`)
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, ends => this.use(client => this.#tell(client), ends))
  }

  async close () {
    const client = await this.#client?.catch(() => null)
    this.#client = null
    if (!client) return
    const remains = this.#remains.get(client)
    this.#remains.delete(client)
    await client.shutdown()
    Promise.allSettled(this.#works).then(() => shutDownHosts(client, remains))
  }

  /**
   * When all nodes have been away, the driver puts new hosts in the place of those that it had, which go on connecting, and looks for nodes
   * twice as often after each time: at the first of them it looks no more, and another client is opened by what is done next.
   * @param {Client} client
   * @param {Remains} remains
   */
  #replace (client, remains) {
    if (this.#remains.delete(client)) this.#client = null
    const { controlConnection: control } = /** @type {any} */ (client)
    control.shutdown()
    Promise.allSettled(this.#works).then(() => client.shutdown()).then(() => shutDownHosts(client, remains))
  }

  /** @template T @param {Promise<T>} work */
  #kept (work) {
    this.#works.add(work)
    const done = () => { this.#works.delete(work) }
    work.then(done, done)
    return work
  }

  /** What is there, in sentences. @param {Client} client */
  async #tell (client) {
    const { rows: [{ release_version: version, data_center: own }] } =
      await client.execute('SELECT release_version, data_center FROM system.local')
    const hosts = client.hosts.values()
    const away = hosts.filter(host => !host.isUp()).map(({ address }) => address)
    const { user, dataCenter } = this.#options
    const replication = await replicationOf(client, this.keyspace)
    const found = `Cassandra ${version}, ${hosts.length === 1 ? 'one node' : `${hosts.length} nodes`}` +
      `${away.length > 0 ? ` (not reached: ${away.join(', ')})` : ''}, data centre "${own}", keyspace ` +
      `"${this.keyspace}"${user && `, logged in as "${user}"`}.`
    const replicas = replication
      ? replicaAdvice(replication, dataCenter, { nodes: hosts.length, reached: hosts.length - away.length })
      : 'The keyspace does not exist: the sink will try to create it.'
    return [found, replicas, await syncAdvice(client), plainTextAdvice(this.#options)].filter(text => text !== '').join(' ')
  }

  /** Once connected, the driver finds its nodes again by itself; a client that has failed to connect never does. */
  #connect () {
    this.#client ??= this.#open().catch(error => {
      this.#client = null
      throw error
    })
    return this.#client
  }

  async #open () {
    const { host, port, dataCenter, user, password } = this.#options
    const hosts = host.split(',').map(name => name.trim())
    const tls = tlsOptions(this.#options)
    const { loadBalancing, reconnection } = policies
    const balancing = dataCenter === ''
      ? new loadBalancing.RoundRobinPolicy()
      : new loadBalancing.DCAwareRoundRobinPolicy(dataCenter)
    const client = new cassandra.Client({
      contactPoints: hosts,
      protocolOptions: { port, maxSchemaAgreementWaitSeconds: AGREEMENT_S },
      ...dataCenter !== '' && { localDataCenter: dataCenter },
      ...user !== '' && { authProvider: new auth.PlainTextAuthProvider(user, password) },
      // The driver connects to addresses, whatever names it was given.
      ...tls && { sslOptions: { ...tls, checkServerIdentity: (address, certificate) => identityError([...hosts, address], certificate) } },
      policies: {
        loadBalancing: new loadBalancing.TokenAwarePolicy(balancing),
        reconnection: new reconnection.ConstantReconnectionPolicy(RECONNECT_MS),
        // The server's clock counts, not that of a gateway, which may not be set.
        timestampGeneration: /** @type {any} */ (null)
      },
      socketOptions: { connectTimeout: CONNECT_TIMEOUT_MS, readTimeout: ANSWER_TIMEOUT_MS, defunctReadTimeoutThreshold: 0 },
      pooling: { warmup: false }, // see `reach`
      // A write is acknowledged, and a read answered, by most replicas: a read finds what was acknowledged before. Where the nodes of
      // all data centres are used, one may be written in and another read.
      queryOptions: {
        consistency: dataCenter === '' ? types.consistencies.quorum : types.consistencies.localQuorum, prepare: true, isIdempotent: true
      },
      encoding: { useBigIntAsLong: true }
    })
    const remains = remainsOf(client)
    try {
      await client.connect()
      await reach(client, dataCenter)
      this.#remains.set(client, remains)
      client.once('hostRemove', () => this.#replace(client, remains))
      return client
    } catch (error) {
      await client.shutdown()
      await shutDownHosts(client, remains)
      throw error
    }
  }
}

/** @param {string[]} names @param {import('node:tls').PeerCertificate} certificate  which must be of one of them */
function identityError (names, certificate) {
  const found = names.map(name => checkServerIdentity(name, certificate))
  return found.includes(undefined) ? undefined : found[0]
}

/** Whether there is no such table or keyspace. @param {any} error */
export function isMissing (error) {
  return error instanceof errors.ResponseError && /(table|keyspace) \S+ (does not|doesn't) exist|unconfigured table/i.test(error.message)
}

/** What the first node that was asked says, where none could do it. @param {any} error */
function reasonOf (error) {
  if (!(error instanceof errors.NoHostAvailableError)) return error
  const [inner = error] = Object.values(error.innerErrors ?? {})
  return typeof inner === 'string' ? new Error(inner) : inner
}

/** Whether the user was let in, but may not do that. @param {any} error */
function isForbidden (error) {
  return error instanceof errors.ResponseError && error.code === types.responseErrorCodes.unauthorized
}

/** @param {string} place @param {Error} cause */
function forbidden (place, cause) {
  return new SluiceError('SLUICE_SINK_CASSANDRA', `${place}: ${cause.message}.`, {
    cause, fix: 'Grant the user SELECT, MODIFY, CREATE and ALTER on the keyspace.'
  })
}

/** Whether the server was not reached, or let nobody in. @param {any} error */
function isConnection (error) {
  return ![errors.ResponseError, SluiceError, TypeError, RangeError].some(kind => error instanceof kind)
}
