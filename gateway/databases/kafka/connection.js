import { withDefaults } from '../../base/defaults.js'
import { describe, SluiceError } from '../../base/errors.js'
import { brokersIn, placesOf } from '../../kafka/brokers.js'
import { isAnswer, isAnswered, KafkaClient, reasonOf } from '../../kafka/client.js'
import { connectError, orPasswordMissing } from '../connecting/failure.js'
import { testInTime } from '../connecting/limits.js'
import { isLocal, plainTextAdvice, tlsOptions } from '../connecting/tls.js'
import { COMMITS_TABLE } from '../names.js'
import { schema } from './connection.schema.js'

export { schema }

/** @typedef {import('../../kafka/client.js').ConnectionOptions & {tls: 'off'|'require'|'verify', ca: string}} ConnectionOptions */

/** @type {import('../connecting/failure.js').Fixes} */
const FIXES = [
  [/SASL|authentication/i, 'Check user, password and kind of login.'],
  [/secure TLS connection/i, 'Check the port and whether the brokers expect TLS there.'],
  [/^connection closed/i, 'Check that the brokers run, and expect this kind of login, and TLS or none, at this port.'],
  [/authori[sz]/i, 'Grant the user what the help of the server lists.']
]

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new KafkaServer(/** @type {ConnectionOptions} */ (withDefaults(schema, options)))
}

/** A cluster. Each sink has connections of its own, as requests on one wait for each other. */
export class KafkaServer {
  #options
  /** What one client is told of the cluster, all know. @type {Map<number, import('../../kafka/brokers.js').Broker>} */
  #brokers = new Map()

  /** @param {ConnectionOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `Kafka at ${placesOf(this.#options)}` }

  /** Nothing is connected before it is needed. The caller closes it. @param {string} [name]  as brokers show it to others */
  client (name) {
    checkNode(process.versions.node)
    return new KafkaClient(this.#options, () => tlsOptions(this.#options), name, this.#brokers)
  }

  /**
   * @template T
   * @param {() => Promise<T>} work  with a client of this server
   * @returns {Promise<T>}
   * @throws {SluiceError} SLUICE_SINK_CONNECT
   */
  async use (work) {
    try {
      return await work()
    } catch (error) {
      throw this.failure(error)
    }
  }

  /** With advice, where no broker was reached, or none let us in. @param {any} error */
  failure (error) {
    if (!isConnection(error)) return error
    return connectError(this.place, orPasswordMissing(reasonOf(error), this.place, this.#options, [/SASL/i]), FIXES)
  }

  /** Any other, in its words. @param {any} error */
  otherFailure (error) {
    return new SluiceError('SLUICE_SINK_KAFKA', `${this.place}: ${describe(reasonOf(error))}.`, { cause: error })
  }

  /** What is wrong, whatever it is. @param {any} error @returns {SluiceError} */
  said (error) {
    const failure = this.failure(error)
    return failure instanceof SluiceError ? failure : this.otherFailure(failure)
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    const client = this.client()
    try {
      return await testInTime(this.place, signal, () => this.use(() => this.#tell(client)))
    } finally {
      await client.close()
    }
  }

  async close () {}

  get #plainTextAdvice () {
    const far = brokersIn(this.#options).find(({ host }) => !isLocal(host))
    return far ? plainTextAdvice({ ...this.#options, ...far }) : ''
  }

  /** What is there, in sentences. @param {KafkaClient} client */
  async #tell (client) {
    const { id, brokers } = await client.cluster()
    const { login, user } = this.#options
    const found = `Kafka cluster ${id}, ${brokers.size === 1 ? 'one broker' : `${brokers.size} brokers`}` +
      `${login === 'none' ? '' : `, logged in as "${user}"`}.`
    const single = brokers.size === 1 ? SINGLE : ''
    return [found, await aboutCommits(client), single, this.#plainTextAdvice].filter(text => text !== '').join(' ')
  }
}

/** What keeps sinks from their commit records. @param {KafkaClient} client */
async function aboutCommits (client) {
  try {
    if (!await client.topic(COMMITS_TABLE)) return `The topic ${COMMITS_TABLE} does not exist: the sink will try to create it.`
    const configs = await client.configsOf(COMMITS_TABLE, ['cleanup.policy'])
    if (configs.get('cleanup.policy') === 'compact') return ''
    return `The topic ${COMMITS_TABLE} is not compacted: set its cleanup.policy to compact, or the sink stores nothing.`
  } catch (error) {
    if (!isAnswer(error, 'TOPIC_AUTHORIZATION_FAILED')) throw error
    return `Sinks store nothing here: this user may not use the topic ${COMMITS_TABLE}. Grant what the help of the server lists.`
  }
}

const SINGLE = 'A single broker acknowledges what is not on its disk yet: a loss of power may take the last seconds. Three brokers, with ' +
  'min.insync.replicas of 2, keep it.'

/** @param {string} version  of Node @throws {SluiceError} SLUICE_KAFKA_NODE */
export function checkNode (version) {
  const [major, minor] = version.split('.').map(Number)
  if (major === 22 ? minor >= 22 : major > 24 || (major === 24 && minor >= 6)) return
  throw new SluiceError('SLUICE_KAFKA_NODE', `The client of Kafka needs Node 22.22 or 24.6, and this is Node ${version}.`, {
    fix: 'Install Node 24.6 or newer (or 22.22 or newer of Node 22). Everything else of Sluice runs with this one.'
  })
}

/** Whether no broker was reached, or none let us in. @param {any} error */
function isConnection (error) {
  if (error instanceof SluiceError || error instanceof TypeError || error instanceof RangeError) return false
  const isRefused = isAnswer(error, 'TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED')
  return isRefused || (!isAnswered(error) && String(error.code ?? '').startsWith('PLT_KFK'))
}
