import { describe, SluiceError } from '../../gateway/base/errors.js'
import { parseTopic, topicsOf } from '../topics.js'

/**
 * @typedef {import('../spool/spool.js').Spool} Spool
 * @typedef {import('../spool/segments.js').Place} Place
 * @typedef {object} Lane  one spool and how far it is sent
 * @property {Spool} spool
 * @property {ReturnType<typeof topicsOf>} topics
 * @property {Place|undefined} sent  where to go on; undefined: from the lowest commit known
 * @property {Map<string, {epoch: string, first: number, last: number}[]>} resends  by sink: what it has requested
 */

const LINGER_MS = 250
const LINGER_BYTES = 2 ** 16

/**
 * Sends what is in the spools to the broker, over one connection, each source in its order; learns what sinks have stored, and resends
 * what they request.
 */
export class Publisher {
  /** @type {Map<string, Lane>} by source */
  #lanes = new Map()
  #connected = false
  #pumping = false
  #wanted = false
  #inFlight = 0
  #inFlightBytes = 0
  #headTimer
  /** @type {NodeJS.Timeout|undefined} */
  #lingerTimer
  #lingeringBytes = 0

  /**
   * @param {object} options
   * @param {import('mqtt').MqttClient} options.client  with a persistent session
   * @param {string} options.gateway
   * @param {string} [options.contentType]  of the payloads
   * @param {number} [options.window]  messages the broker has not acknowledged
   * @param {number} [options.windowBytes]
   * @param {number} [options.headIntervalMs]
   * @param {import('../../gateway/base/log.js').Log} [options.log]
   */
  constructor ({ client, gateway, contentType, window = 64, windowBytes = 2 ** 24, headIntervalMs = 5000, log = console }) {
    this.client = client
    this.gateway = gateway
    this.options = { contentType, window, windowBytes, log }
    this.#headTimer = setInterval(() => this.#announce(), headIntervalMs)
    this.#headTimer.unref()
    client.on('connect', this.#onConnect)
    client.on('close', this.#onClose)
    client.on('message', this.#onMessage)
    if (client.connected) this.#onConnect({ sessionPresent: false })
  }

  get connected () { return this.#connected }

  /** @param {Spool} spool */
  add (spool) {
    const lane = { spool, topics: topicsOf(this.gateway, spool.source), sent: undefined, resends: new Map() }
    this.#lanes.set(spool.source, lane)
    spool.on('accepted', bytes => this.#linger(bytes))
    if (this.#connected) {
      this.#listen([lane])
      this.#announce([lane])
    }
    this.#pump()
  }

  /** Publishes nothing more; the connection stays its owner's. */
  close () {
    clearInterval(this.#headTimer)
    clearTimeout(this.#lingerTimer)
    this.#connected = false
    this.client.off('connect', this.#onConnect)
    this.client.off('close', this.#onClose)
    this.client.off('message', this.#onMessage)
  }

  /** @param {{sessionPresent: boolean}} connack */
  #onConnect = ({ sessionPresent }) => {
    this.#connected = true
    this.#listen([...this.#lanes.values()])
    if (!sessionPresent) for (const lane of this.#lanes.values()) lane.sent = undefined
    this.#announce()
    this.#pump()
  }

  #onClose = () => { this.#connected = false }

  /**
   * Each lane for itself: its retained commits come when it subscribes, and one that is opened later must not miss them.
   * @param {Lane[]} lanes
   */
  #listen (lanes) {
    if (lanes.length === 0) return
    const filters = lanes.flatMap(({ topics }) => [topics.commits, topics.resends])
    this.client.subscribe(filters, { qos: 1 }, error => {
      if (error && this.#connected) this.options.log.error(`Cannot learn what the sinks have stored: ${describe(error)}`)
    })
  }

  /** @param {Iterable<Lane>} [lanes] */
  #announce (lanes = this.#lanes.values()) {
    if (!this.#connected) return
    for (const { spool, topics } of lanes) {
      const head = JSON.stringify({ spool: this.client.options.clientId, epochs: spool.epochs })
      this.client.publish(topics.head, head, { qos: 1, retain: true }, this.#report)
    }
  }

  #onMessage = (/** @type {string} */ topic, /** @type {Buffer} */ payload) => {
    const about = parseTopic(topic)
    const lane = about && this.#lanes.get(about.source)
    if (!lane || !about.sink) return
    try {
      if (about.kind === 'commit' && payload.length === 0) {
        lane.resends.delete(about.sink)
        lane.spool.forget(about.sink).catch(this.#report)
      } else if (about.kind === 'commit') {
        const epochs = readRanges(payload)
        const heard = epochs ? lane.spool.commit(about.sink, epochs) : lane.spool.require(about.sink)
        heard.catch(this.#report)
      } else if (about.kind === 'replay') {
        lane.resends.set(about.sink, availableOf(readRanges(payload) ?? {}, lane.spool.epochs))
        this.#pump()
      }
    } catch (error) {
      this.options.log.warn(`Ignored a message on ${topic}: ${describe(error)}`)
    }
  }

  /**
   * Waits a moment for more to send in one go, unless much is waiting: each wake-up of sender, broker and receiver costs more than a small
   * batch.
   * @param {number} bytes
   */
  #linger (bytes) {
    this.#lingeringBytes += bytes
    if (this.#lingeringBytes > LINGER_BYTES) this.#pump()
    else this.#lingerTimer ??= setTimeout(() => this.#pump(), LINGER_MS)
  }

  /** Sends as the window allows: each lane in turn one batch and, to each sink that requested some, one again. */
  async #pump () {
    clearTimeout(this.#lingerTimer)
    this.#lingerTimer = undefined
    this.#lingeringBytes = 0
    this.#wanted = true
    if (this.#pumping) return
    this.#pumping = true
    try {
      for (let sent = false; (sent || this.#wanted) && this.#hasRoom();) {
        sent = this.#wanted = false
        for (const lane of this.#lanes.values()) {
          sent = await this.#sendNext(lane) || sent
          for (const sink of lane.resends.keys()) sent = await this.#sendAgain(lane, sink) || sent
        }
      }
    } catch (error) {
      this.options.log.error(`Cannot send from the spool: ${describe(error)}`)
    } finally {
      this.#pumping = false
    }
  }

  #hasRoom () {
    const { window, windowBytes } = this.options
    return this.#connected && this.#inFlight < window && this.#inFlightBytes < windowBytes
  }

  /** @param {Lane} lane */
  async #sendNext (lane) {
    const place = this.#hasRoom() && lane.spool.next(lane.sent)
    if (!place) return false
    lane.sent = { epoch: place.epoch, seq: place.seq + 1 }
    const payload = await lane.spool.read(place.epoch, place.seq)
    if (payload) this.#publish(lane.topics.data, payload)
    return true
  }

  /** @param {Lane} lane @param {string} sink */
  async #sendAgain (lane, sink) {
    if (!this.#hasRoom()) return false
    const ranges = lane.resends.get(sink)
    if (!ranges?.[0]) {
      lane.resends.delete(sink)
      return false
    }
    const [range] = ranges
    const seq = range.first++ // at once: the sink may request again while this is read
    if (seq === range.last) ranges.shift()
    const payload = await lane.spool.read(range.epoch, seq)
    if (payload) this.#publish(lane.topics.replayData(sink), payload)
    return true
  }

  /** @param {string} topic @param {Uint8Array} payload */
  #publish (topic, payload) {
    const { contentType } = this.options
    const properties = contentType && this.client.options.protocolVersion === 5 ? { properties: { contentType } } : {}
    this.#inFlight++
    this.#inFlightBytes += payload.length
    this.client.publish(topic, /** @type {Buffer} */ (payload), { qos: 1, ...properties }, error => {
      this.#inFlight--
      this.#inFlightBytes -= payload.length
      if (error) this.#report(error)
      else this.#pump()
    })
  }

  /** @param {unknown} [error] */
  #report = error => {
    if (error && this.#connected) this.options.log.warn(`Publishing failed: ${describe(error)}`)
  }
}

/**
 * What of the requested ranges a spool has: anybody may request anything.
 * @param {Record<string, [number, number][]>} requested
 * @param {{epoch: string, first: number, last: number}[]} heads
 */
function availableOf (requested, heads) {
  return heads
    .flatMap(({ epoch, first, last }) => {
      return (requested[epoch] ?? []).map(([from, to]) => ({ epoch, first: Math.max(first, from), last: Math.min(last, to) }))
    })
    .filter(({ first, last }) => first <= last)
}

/**
 * Ranges of seqs by epoch, as `commit` and `replay` messages carry them.
 * @param {Buffer} payload
 * @returns {Record<string, [number, number][]>|null} null of a sink whose database has not answered yet: it exists, and is waited for
 */
export function readRanges (payload) {
  const { epochs } = JSON.parse(payload.toString())
  if (epochs === null) return null
  for (const [epoch, ranges] of Object.entries(epochs)) {
    const isRange = (/** @type {any} */ range) => Number.isSafeInteger(range[0]) && Number.isSafeInteger(range[1]) && range[0] >= 0
    if (!Array.isArray(ranges) || !ranges.every(isRange)) {
      throw new SluiceError('SLUICE_PROTOCOL', `The ranges of epoch ${epoch} are not pairs of whole numbers.`)
    }
  }
  return epochs
}
