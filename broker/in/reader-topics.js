import { describe } from '../../gateway/base/errors.js'
import { filters } from '../topics.js'

/**
 * @typedef {object} ReaderTopicsOptions  see ConsumerOptions
 * @property {import('../client.js').BrokerClient} client
 * @property {string} consumer
 * @property {string} reader
 * @property {string} gateway
 * @property {string} source
 * @property {import('./contract.js').Sharing} members
 * @property {import('../../gateway/base/log.js').Log} log
 */

/** What a reader subscribes to: all that its gateways send, or, where members share them, what those send that are its own. */
export class ReaderTopics {
  /** Where gateways are shared: those whose data are subscribed to, or not any more, since the last connect. @type {Set<string>} */
  #chosen = new Set()
  #options

  /** @param {ReaderTopicsOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** A session outlives a deploy and still brings what an earlier one subscribed to. @param {string} gateway @param {string} [source] */
  isMeant (gateway, source) {
    const options = this.#options
    return [gateway, '+'].includes(options.gateway) && (source === undefined || [source, '+'].includes(options.source)) &&
      options.members.has(gateway, source)
  }

  /** On connecting, at once: what comes is held until each of the sinks has been read, and duplicates are recognised. */
  subscribe () {
    this.#chosen.clear()
    const { client, consumer, reader, gateway, source, members } = this.#options
    const { heads, data, resent, sinksOf } = filters
    const topics = [heads(gateway), resent(gateway, consumer, reader), sinksOf(consumer)]
    if (members.areSeveral) client.unsubscribe(data(gateway, source)) // of an earlier deploy
    else topics.push(data(gateway, source))
    this.#subscribeTo(topics)
  }

  /**
   * Of gateways that are shared, only the own ones' data are subscribed to, each once its head is heard: what it sent before is requested.
   * What comes of another was an earlier deploy's.
   * @param {string} gateway
   */
  choose (gateway) {
    const { client, source, members } = this.#options
    if (!members.areSeveral || this.#chosen.has(gateway)) return
    this.#chosen.add(gateway)
    const topic = filters.data(gateway, source)
    if (this.isMeant(gateway)) this.#subscribeTo([topic])
    else client.unsubscribe(topic)
  }

  /** @param {string[]} topics */
  #subscribeTo (topics) {
    const { client, log } = this.#options
    client.subscribe(topics, { qos: 1 }, (error, granted) => {
      const refused = granted?.filter(({ qos }) => qos >= 128).map(({ topic }) => topic) ?? []
      if ((!error && refused.length === 0) || !client.connected) return
      log.error(`The broker refuses the subscription to ${refused.join(', ') || topics.join(', ')}${error ? `: ${describe(error)}` : ''}`)
    })
  }
}
