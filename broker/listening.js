import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../gateway/base/errors.js'
import { open, within } from './preflight/probing.js'
import { isForTopic, ROOT } from './topics.js'

/**
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('./connection/connection.js').BrokerOptions} BrokerOptions
 *
 * @typedef {object} Heard  the newest message of a topic
 * @property {string} topic
 * @property {Buffer} payload  empty where it is too long
 * @property {number} bytes  that it has
 * @property {string} [contentType]
 */

/** What is kept: topics that the filters are for, others beside them, and the bytes of each message. */
const MAX_TOPICS = 200
const MAX_OTHERS = 50
const MAX_MESSAGE_BYTES = 65_536
/** After so much, a broker has been listened to enough. */
const MAX_HEARD_MESSAGES = 20_000
const MAX_HEARD_BYTES = 64 * 2 ** 20

const OWN = `${ROOT.split('/')[0]}/`

/**
 * Listens to a broker for a while, at once when made, and keeps the newest message of each topic. The broker notices a client with a
 * session of its own that ends with it; a shared subscription is listened to as a plain one, which takes nothing from those who share.
 * Besides what the filters are for, a few neighbours are kept: topics that begin as a filter does.
 */
export class Listening {
  #filters
  #durationMs
  /** @type {PromiseWithResolvers<void>} */
  #ending = Promise.withResolvers()
  /** @type {Map<string, Heard>} */
  #heard = new Map()
  #others = 0
  #messages = 0
  #bytes = 0
  #endsAt = Infinity
  /** @type {'connecting'|'listening'|'ended'} */
  #state = 'connecting'
  /** Why it ended before its time. @type {unknown} */
  problem = null

  /**
   * @param {BrokerOptions} options
   * @param {string[]} filters  none: all that is no message of the broker or of ours
   * @param {{durationMs?: number}} [more]
   */
  constructor (options, filters, { durationMs = 30_000 } = {}) {
    this.#filters = filters.length > 0 ? filters.map(withoutGroup) : ['#']
    this.#durationMs = durationMs
    /** Resolves once the broker has seen the last of it. */
    this.ended = this.#run(options).catch(error => { this.problem = error }).finally(() => { this.#state = 'ended' })
  }

  get state () {
    const remainingMs = this.#state === 'listening' ? Math.max(0, Math.round(this.#endsAt - performance.now())) : 0
    return { state: this.#state, remainingMs, durationMs: this.#durationMs, messages: this.#messages, topics: this.#heard.size }
  }

  /** By topic. */
  get messages () {
    return [...this.#heard.values()].sort((a, b) => a.topic < b.topic ? -1 : 1)
  }

  /** What has been heard stays. */
  async close () {
    this.#ending.resolve()
    await this.ended
  }

  /** @param {BrokerOptions} options */
  async #run (options) {
    const connection = await open(options, { clientId: `sluice-try-${randomUUID()}` })
    try {
      const { client } = connection
      client.once('close', () => this.#ending.reject(connection.problem))
      const over = this.#ending.promise
      over.catch(() => {}) // it closes in the end
      client.on('message', (topic, payload, { properties }) => this.#take(client, topic, payload, properties?.contentType))
      await Promise.race([within(this.#subscribe(client)), over])
      this.#endsAt = performance.now() + this.#durationMs
      this.#state = 'listening'
      await Promise.race([sleep(this.#durationMs, null, { ref: false }), over])
    } finally {
      await connection.close()
    }
  }

  /** @param {MqttClient} client */
  async #subscribe (client) {
    const accepted = await Promise.all([...this.#filters, ...this.#neighbourhoods].map(async filter => {
      const granted = await client.subscribeAsync(filter, { qos: 0 }).catch(() => [])
      return granted.some(({ qos }) => qos < 128)
    }))
    if (accepted.includes(true) || !client.connected) return
    throw new SluiceError('SLUICE_LISTEN_REFUSED', `The broker refuses the subscription to ${this.#filters.join(', ')}.`, {
      fix: 'Allow this user to read there, or listen to other topics.'
    })
  }

  /** @param {MqttClient} client @param {string} topic @param {Buffer} payload @param {string} [contentType] */
  #take (client, topic, payload, contentType) {
    this.#messages++
    this.#bytes += payload.length
    if (this.#messages >= MAX_HEARD_MESSAGES || this.#bytes >= MAX_HEARD_BYTES) this.#ending.resolve()
    if (topic.startsWith(OWN) || (!this.#heard.has(topic) && !this.#admits(client, topic))) return
    const bytes = payload.length
    const kept = bytes > MAX_MESSAGE_BYTES ? Buffer.alloc(0) : Buffer.from(payload) // not the chunk that it is cut from
    this.#heard.set(topic, { topic, payload: kept, bytes, contentType })
  }

  /** @param {MqttClient} client @param {string} topic */
  #admits (client, topic) {
    if (this.#filters.some(filter => isForTopic(filter, topic))) return this.#heard.size - this.#others < MAX_TOPICS
    if (this.#others === MAX_OTHERS) return false
    if (++this.#others === MAX_OTHERS) client.unsubscribe(this.#neighbourhoods)
    return true
  }

  get #neighbourhoods () {
    const wide = this.#filters.map(filter => {
      const levels = filter.split('/')
      const wildcard = levels.findIndex(level => level === '+' || level === '#')
      return [...levels.slice(0, wildcard === -1 ? -1 : wildcard), '#'].join('/')
    })
    return [...new Set(wide)].filter(filter => !this.#filters.includes(filter))
  }
}

/** @param {string} filter */
function withoutGroup (filter) {
  return filter.replace(/^\$share\/[^/]*\//, '')
}
