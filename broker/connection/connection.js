import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'
import { backoff } from '../../gateway/base/backoff.js'
import { describe } from '../../gateway/base/errors.js'
import { deferAcks } from '../in/deferred-acks.js'
import { divert } from './diverted.js'
import { problem, problemOf } from './problems.js'
import { addressOf, security } from './target.js'

/**
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('../../gateway/base/log.js').Log} Log
 * @typedef {import('../../gateway/base/errors.js').SluiceError} SluiceError
 *
 * @typedef {object} BrokerOptions  see `schema`
 * @property {string} [url]
 * @property {'auto'|'5'|'3.1.1'} [protocolVersion]
 * @property {string} [user]
 * @property {string} [password]
 * @property {string} [ca]
 * @property {boolean} [verify]
 * @property {string} [cert]
 * @property {string} [key]
 * @property {number} [keepAliveSeconds]
 *
 * @typedef {object} ClientOptions
 * @property {string} clientId
 * @property {boolean} [clean]  false keeps the session on the broker, true (the default) starts and leaves none
 * @property {number} [sessionExpirySeconds]  how long an MQTT 5 broker keeps the session of a client that is gone
 * @property {number} [receiveMaximum]  how many unacknowledged messages an MQTT 5 broker may send, 1 … 65535
 * @property {import('mqtt').IClientOptions['will']} [will]
 * @property {import('./diverted.js').Read} [read]  reads what the broker sends, and passes on to MQTT.js what is for that
 * @property {Log} [log]
 * @property {(problem: SluiceError) => void} [onProblem]  called when what keeps the client from its broker changes, not at each attempt
 */

export const schema = {
  type: 'object',
  title: 'MQTT broker',
  description: 'The broker that stages the data between sources and sinks.',
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      title: 'Address',
      description: 'mqtt://host:port, or mqtts:// for TLS; ws:// and wss:// for websockets. User and password have fields of their own.',
      pattern: '^(mqtt|mqtts|ws|wss)://[^/@\\s]+(/\\S*)?$',
      'x-check': 'broker-address',
      default: 'mqtt://127.0.0.1:1883'
    },
    protocolVersion: {
      type: 'string',
      title: 'Protocol',
      description: 'The MQTT version; "auto" uses 5 or, where the broker refuses that, 3.1.1.',
      enum: ['auto', '5', '3.1.1'],
      default: 'auto',
      'x-advanced': true
    },
    user: {
      type: 'string',
      title: 'User',
      description: 'The name the broker knows this gateway by; empty where it asks for none.',
      default: '',
      'x-secret': true
    },
    password: {
      type: 'string',
      title: 'Password',
      description: 'The password of that user. It is kept among Node-RED\'s encrypted credentials.',
      default: '',
      'x-secret': true
    },
    ca: {
      type: 'string',
      title: 'Authority (CA)',
      description: 'Certificate of the authority that signed the broker\'s, as PEM text or as the path of a file; empty for the ' +
        'public authorities.',
      default: ''
    },
    verify: {
      type: 'boolean',
      title: 'Verify the broker\'s certificate',
      description: 'Without it the connection is encrypted, but anyone may pose as the broker.',
      default: true,
      'x-advanced': true
    },
    cert: {
      type: 'string',
      title: 'Client certificate',
      description: 'This gateway\'s own certificate where the broker asks for one, as PEM text or as the path of a file.',
      default: '',
      'x-advanced': true
    },
    key: {
      type: 'string',
      title: 'Client key',
      description: 'The private key of the client certificate, as PEM text or as the path of a file.',
      default: '',
      'x-secret': true,
      'x-advanced': true
    },
    keepAliveSeconds: {
      type: 'integer',
      title: 'Keep alive',
      description: 'A silent connection is probed after this time, and taken for lost when no answer comes; 0 never probes.',
      'x-unit': 's',
      minimum: 0,
      maximum: 65_535,
      default: 30,
      'x-advanced': true
    }
  }
}

const MIN_DELAY_MS = 200
const MAX_DELAY_MS = 15_000
/** A connection that lasted so long makes the next loss a first one. */
const STEADY_AFTER_MS = 2000
const CONNECT_TIMEOUT_MS = 10_000
/** Socket errors that say no more than that the other side ended the connection. */
const ENDED = new Set(['ECONNRESET', 'EPIPE'])
const REFUSED_PROTOCOL = new Set([1, 132])

/**
 * A client of the broker that connects again without end, waiting 0.2 … 15 s with jitter between attempts. It does not subscribe again
 * (where a `connect` event says that there is no session, its owner does), and refuses QoS 0 messages while it is not connected.
 * @param {BrokerOptions} options
 * @param {ClientOptions} clientOptions
 * @throws {SluiceError} SLUICE_BROKER_OPTIONS when the address or a certificate file cannot be read
 */
export function connect (options, clientOptions) {
  return new Connection(options, clientOptions)
}

export class Connection {
  #attempts = 0
  /** Of the present attempt; `explained`: it is known why it fails. @type {'connecting'|'connected'|'explained'} */
  #state = 'connecting'
  /** @type {NodeJS.Timeout|undefined} */
  #steady
  /** The message of the problem that the log has. @type {string|null} */
  #logged = null
  #auto
  #options

  /** @param {BrokerOptions} options @param {ClientOptions} clientOptions */
  constructor (options, clientOptions) {
    const { protocolVersion = 'auto' } = options
    this.#options = clientOptions
    this.#auto = protocolVersion === 'auto'
    /** @type {SluiceError|null} what keeps the client from its broker now */
    this.problem = null
    const address = addressOf(options.url ?? schema.properties.url.default)
    /** The broker's address without user and password, for messages. */
    this.place = address.place
    /** The MQTT.js client: to publish, to subscribe, and for its `connect`, `close` and `message` events. @type {MqttClient} */
    this.client = mqtt.connect({
      ...address.target,
      ...security(options),
      clientId: clientOptions.clientId,
      protocolVersion: protocolVersion === '3.1.1' ? 4 : 5,
      clean: clientOptions.clean ?? true,
      properties: {
        sessionExpiryInterval: clientOptions.clean === false ? clientOptions.sessionExpirySeconds : undefined,
        receiveMaximum: clientOptions.receiveMaximum
      },
      will: clientOptions.will,
      username: options.user || undefined,
      password: options.password || undefined,
      keepalive: options.keepAliveSeconds ?? schema.properties.keepAliveSeconds.default,
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectPeriod: MIN_DELAY_MS,
      reconnectOnConnackError: true,
      resubscribe: false,
      queueQoSZero: false,
      manualConnect: clientOptions.read !== undefined
    })
    this.#watch()
    if (clientOptions.read) divert(this.client, clientOptions.read)
  }

  /** The MQTT version in use: 5, or 4, which is how MQTT 3.1.1 calls itself. */
  get protocolVersion () { return /** @type {4|5} */ (this.client.options.protocolVersion) }

  /** @param {Parameters<import('../client.js').BrokerConnection['receive']>[0]} onMessage */
  receive (onMessage) { deferAcks(this.client, /** @type {any} */ (onMessage)) }

  /**
   * Ends the connection for good. What is published but not acknowledged has `patienceMs` to become so.
   * @param {{patienceMs?: number}} [options]
   */
  async close ({ patienceMs = 2000 } = {}) {
    const { client } = this
    const deadline = performance.now() + patienceMs
    const isWaiting = () => client.connected && Object.keys(client.outgoing).length > 0
    while (isWaiting() && performance.now() < deadline) await sleep(10)
    const impatience = setTimeout(() => client.stream.destroy(), patienceMs)
    await client.endAsync(!client.connected || isWaiting())
    clearTimeout(impatience)
    clearTimeout(this.#steady)
  }

  #watch () {
    const { client } = this
    client.on('reconnect', () => {
      this.#state = 'connecting'
      client.options.reconnectPeriod = delayMs(++this.#attempts)
    })
    client.on('connect', () => {
      // Small packets do not wait for more to come (Nagle): an acknowledgement that does costs 40 ms.
      if (client.stream instanceof Socket) client.stream.setNoDelay(true)
      this.#state = 'connected'
      this.problem = null
      this.#logged = null
      this.#steady = setTimeout(() => {
        this.#attempts = 0
        client.options.reconnectPeriod = MIN_DELAY_MS
      }, STEADY_AFTER_MS).unref()
      this.#options.log?.info(`Connected to the broker at ${this.place} (MQTT ${this.protocolVersion === 5 ? '5' : '3.1.1'}).`)
    })
    client.on('error', error => {
      const isToldByClose = ENDED.has(/** @type {any} */ (error).code)
      if (!isToldByClose && !this.#fallsBack(error)) this.#report(problemOf(error, this.place))
    })
    client.on('disconnect', ({ reasonCode }) => this.#report(problemOf({ code: reasonCode, message: 'it said DISCONNECT' }, this.place)))
    client.on('close', () => {
      clearTimeout(this.#steady)
      if (client.disconnecting || this.#state === 'explained') return
      this.#report(problem(this.#state === 'connected' ? 'lost' : 'silent', this.place))
    })
  }

  /**
   * Once, from MQTT 5 to 3.1.1, when the broker refuses the former: MQTT.js connects again with the options as they are then.
   * @param {any} error
   */
  #fallsBack ({ code }) {
    const { options } = this.client
    if (!this.#auto || options.protocolVersion !== 5 || !REFUSED_PROTOCOL.has(code)) return false
    this.#state = 'explained'
    options.protocolVersion = 4
    options.reconnectPeriod = 1
    return true
  }

  /**
   * A broker embedded in the same flow listens a moment later: that nothing does is logged from the second attempt on.
   * @param {SluiceError} found
   */
  #report (found) {
    this.#state = 'explained'
    if (this.problem?.message !== found.message) {
      this.problem = found
      this.#options.onProblem?.(found)
    }
    const mayBeStarting = this.#attempts === 0 && found.code === 'SLUICE_BROKER_REFUSED'
    if (mayBeStarting || this.#logged === found.message) return
    this.#logged = found.message
    this.#options.log?.warn(describe(found))
  }
}

/** @param {number} attempt  1, 2, 3, … */
function delayMs (attempt) {
  return MIN_DELAY_MS + backoff(attempt - 1, { first: MIN_DELAY_MS, max: MAX_DELAY_MS - MIN_DELAY_MS, jitter: 1 })
}
