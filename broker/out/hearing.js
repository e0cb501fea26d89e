import { randomUUID } from 'node:crypto'
import { describe } from '../../gateway/base/errors.js'
import { filters, gatewayTopics, parseTopic } from '../topics.js'

/** How long a broker may take to pass on what it has retained; one that does not let us hear ourselves takes that long every time. */
const PATIENCE_MS = 5000

/** Whoever has heard another under its identity lets that one hear itself, too; so they go on as long as there are two. */
const ANSWER_MS = 10_000

/**
 * @typedef {object} Heard  what to do with what is heard
 * @property {(payload: Buffer) => void} head  the own one, as the broker had it
 * @property {(consumer: string, reader: string, payload: Buffer) => void} sinks
 * @property {(consumer: string, sink: string, payload: Buffer) => void} commit
 * @property {(consumer: string, reader: string, payload: Buffer) => void} resend
 * @property {() => void} other  another is there under this identity. Brokers of MQTT do not let two in, others may
 * @property {(error: unknown, topic: string) => void} broken  one of these has thrown
 * @property {(how: {isNewSession: boolean}) => void} ready  what is retained has been heard; after each connecting
 * @property {() => void} gone  the connection is
 */

/** Topic filters. @param {string} gateway @param {string} spool */
export function listenedTo (gateway, spool) {
  const { head, echo } = gatewayTopics(gateway)
  return [head(spool), echo(spool), filters.sinks, filters.commits(gateway), filters.resends(gateway)]
}

/**
 * Listens to what the broker has for a spool. On connecting it says something to itself: once that is back, so is all that was retained.
 */
export class Hearing {
  isReady = false
  isConnected = false
  /** Which connection this is. */
  #turn = 0
  /** @type {Buffer|null} */
  #head = null
  #retained = 0
  /** What it says begins with that. */
  #voice = randomUUID()
  /** @type {Map<string, () => void>} by what was said */
  #echoes = new Map()
  /** @type {NodeJS.Timeout|undefined} */
  #answer
  #options
  #topics

  /**
   * @param {object} options
   * @param {import('../client.js').BrokerClient} options.client  with a persistent session
   * @param {string} options.gateway
   * @param {string} options.spool
   * @param {Heard} options.heard
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (options) {
    const { client, gateway, spool } = options
    this.#options = options
    const { head, echo } = gatewayTopics(gateway)
    this.#topics = { head: head(spool), echo: echo(spool), all: listenedTo(gateway, spool) }
    client.on('connect', this.#onConnect)
    client.on('close', this.#onClose)
    client.on('message', this.#onMessage)
    if (client.connected) this.#onConnect({ sessionPresent: false })
  }

  close () {
    const { client } = this.#options
    this.#end()
    client.off('connect', this.#onConnect)
    client.off('close', this.#onClose)
    client.off('message', this.#onMessage)
  }

  /** @param {{sessionPresent: boolean}} connack */
  #onConnect = async ({ sessionPresent }) => {
    const { heard } = this.#options
    const turn = ++this.#turn
    this.isConnected = true
    this.#head = null
    await this.#hearRetained(() => turn === this.#turn)
    if (turn !== this.#turn) return
    if (this.#head) this.#pass(this.#topics.head, () => heard.head(/** @type {Buffer} */ (this.#head)))
    this.isReady = true
    heard.ready({ isNewSession: !sessionPresent })
  }

  #onClose = () => {
    if (!this.isConnected) return // one more attempt in vain
    this.#end()
    this.#options.heard.gone()
  }

  #end () {
    this.#turn++
    this.isReady = this.isConnected = false
    clearTimeout(this.#answer)
    this.#answer = undefined
    for (const resolve of this.#echoes.values()) resolve()
  }

  /** @param {() => boolean} isCurrent */
  async #hearRetained (isCurrent) {
    const { client, log } = this.#options
    const deadline = performance.now() + PATIENCE_MS
    await client.subscribeAsync(this.#topics.all, { qos: 1 }).catch(error => {
      if (isCurrent()) log.error(`SLUICE_BROKER_AUTH: Cannot hear what the sinks have stored, nor the own head: ${describe(error)}`)
    })
    for (let before = -1; isCurrent() && before !== this.#retained && performance.now() < deadline;) {
      before = this.#retained
      await this.#echo(deadline - performance.now())
    }
  }

  /** @param {number} patienceMs */
  async #echo (patienceMs) {
    const word = this.#voice + randomUUID()
    const { promise, resolve } = Promise.withResolvers()
    this.#echoes.set(word, () => resolve(undefined))
    const timer = setTimeout(resolve, patienceMs)
    this.#say(word)
    await promise
    clearTimeout(timer)
    this.#echoes.delete(word)
  }

  /** @param {string} topic @param {Buffer} payload @param {import('mqtt').IPublishPacket} packet */
  #onMessage = (topic, payload, { retain }) => {
    const { gateway, heard } = this.#options
    if (retain) this.#retained++
    if (topic === this.#topics.echo) return this.#hearEcho(String(payload))
    if (topic === this.#topics.head) {
      if (retain) this.#head = payload
      return
    }
    const about = parseTopic(topic)
    if (about?.kind === 'sinks') this.#pass(topic, () => heard.sinks(about.consumer, about.reader, payload))
    if (about?.kind === 'commit' && about.gateway === gateway) this.#pass(topic, () => heard.commit(about.consumer, about.sink, payload))
    if (about?.kind === 'resend' && about.gateway === gateway) this.#pass(topic, () => heard.resend(about.consumer, about.reader, payload))
  }

  /** Before it is ready, that may be what an earlier run of this gateway has said. @param {string} word */
  #hearEcho (word) {
    this.#echoes.get(word)?.()
    if (word.startsWith(this.#voice) || !this.isReady) return
    this.#options.heard.other()
    this.#answer ??= setTimeout(() => {
      this.#answer = undefined
      this.#say(this.#voice)
    }, ANSWER_MS).unref()
  }

  /** @param {string} word */
  #say (word) {
    this.#options.client.publish(this.#topics.echo, word, { qos: 1 })
  }

  /** @param {string} topic @param {() => void} work */
  #pass (topic, work) {
    try {
      work()
    } catch (error) {
      this.#options.heard.broken(error, topic)
    }
  }
}
