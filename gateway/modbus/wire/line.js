import { Link } from './link.js'
import { Station } from './station.js'

/**
 * @typedef
 *   {import('./framing.js').Exchange & {station: Station, job: import('./job.js').Job, sentMs: number, waitMs: number, isDoubtful: boolean, isAnswered: boolean, timer: NodeJS.Timeout|undefined}}
 *   Sent
 * @typedef {import('./station.js').StationOptions} StationOptions
 *
 * @typedef {object} LineOptions
 * @property {number} firstRetryMs  of the connection
 * @property {number} longestRetryMs
 * @property {() => number} random
 */

const FRUITLESS_TIMEOUTS = 3
const FRAME_EXTRA = 6 // unit and checksum, of request and reply

/**
 * One connection and the devices that are asked over it, in turn: each that has somebody waiting gets one request before any gets its
 * second.
 * After a timeout, each that answers gets its turn before another is tried that may not: however many are dead, one who waits loses one
 * timeout at a time.
 */
export class Line {
  /** @type {Station[]} the one that was asked last is last */
  #stations = []
  /** @type {Set<Sent>} */
  #sent = new Set()
  #transport
  #framing
  #random
  #link
  #isWoken = false
  /** @type {NodeJS.Timeout|undefined} */
  #nextTimer
  /** @type {NodeJS.Timeout|undefined} */
  #drainTimer
  #lastActMs = -Infinity
  #lastByteMs = -Infinity
  /** since when what the line says belongs to nothing that is awaited; null while it says nothing such */
  /** @type {number|null} */
  #dirtySinceMs = null
  /** timeouts in a row, each sent after the last, without a byte */
  #fruitless = 0
  #fruitlessSinceMs = -Infinity
  /** @type {Station|null} whose answer may still come */
  #givenUp = null
  /** who had a turn since the last timeout @type {Set<Station>} */
  #served = new Set()
  /** @type {unknown} why it is down; null while it is not, or nothing is known yet */
  #downError = null

  /** @param {import('./transport.js').Transport} transport @param {import('./framing.js').Framing} framing @param {LineOptions} options */
  constructor (transport, framing, options) {
    this.#transport = transport
    this.#framing = framing
    this.#random = options.random
    this.#link = new Link(transport, options, {
      up: () => this.#up(),
      down: (error, wasUp) => this.#down(error, wasUp),
      data: chunk => this.#received(chunk)
    })
  }

  /** @param {StationOptions} options @param {{log?: import('../../base/log.js').Log}} context */
  join (options, { log }) {
    const station = new Station(this.#transport.place, options, { log, random: this.#random, wake: () => this.#wake() })
    this.#stations.push(station)
    if (this.#downError) station.disconnected(this.#downError, false)
    return station
  }

  /** Whoever waits for it is told. A request of it that is on its way keeps the line until its time is over. @param {Station} station */
  leave (station) {
    this.#stations = this.#stations.filter(other => other !== station)
    if (this.#givenUp === station) this.#givenUp = null
    this.#served.delete(station)
    station.close()
  }

  async close () {
    for (const exchange of this.#sent) clearTimeout(exchange.timer)
    this.#sent.clear()
    clearTimeout(this.#nextTimer)
    clearTimeout(this.#drainTimer)
    await this.#link.close()
  }

  #up () {
    this.#framing.reset()
    this.#dirtySinceMs = null
    this.#fruitless = 0
    this.#givenUp = null
    this.#downError = null
    for (const station of this.#stations) station.connected()
    this.#wake()
  }

  /** @param {unknown} error @param {boolean} wasUp */
  #down (error, wasUp) {
    clearTimeout(this.#nextTimer)
    clearTimeout(this.#drainTimer)
    for (const exchange of this.#sent) clearTimeout(exchange.timer)
    this.#sent.clear()
    this.#downError = error
    for (const station of this.#stations) station.disconnected(error, wasUp)
  }

  /** Sends once all who were just answered have said what they want next: then it goes in one packet. */
  #wake () {
    if (this.#isWoken) return
    this.#isWoken = true
    queueMicrotask(() => {
      this.#isWoken = false
      this.#sendAll()
    })
  }

  #sendAll () {
    clearTimeout(this.#nextTimer)
    const { stream } = this.#link
    if (!stream) return
    const capacity = Math.min(this.#framing.capacity, Math.max(...this.#stations.map(({ options }) => options.pipeline)))
    if (capacity > 1) stream.cork()
    while (this.#sent.size < capacity) {
      const station = this.#next()
      if (!station) break
      stream.write(this.#start(station))
    }
    if (capacity > 1) stream.uncork()
  }

  /** Whose turn it is. If it is nobody's yet, it looks again when it is. */
  #next () {
    const nowMs = performance.now()
    const isOwed = (/** @type {Station} */ station) => station.wants && station.isGood && !this.#served.has(station)
    const goodFirst = this.#stations.some(isOwed)
    let waitMs = Infinity
    for (const [turn, station] of this.#stations.entries()) {
      if (!station.wants || (goodFirst && !station.isGood)) continue
      const readyInMs = Math.max(station.readyMs, this.#quietMs(station.options)) - nowMs
      if (readyInMs <= 0) {
        this.#stations.push(...this.#stations.splice(turn, 1))
        return station
      }
      waitMs = Math.min(waitMs, readyInMs)
    }
    if (waitMs < Infinity) this.#nextTimer = setTimeout(() => this.#sendAll(), Math.ceil(waitMs))
  }

  /**
   * When the line will have been quiet for long enough. A line that is never quiet is used nevertheless after the timeout: the device, then
   * not understood, is backed off.
   * @param {StationOptions} options
   */
  #quietMs ({ pauseBetweenMs, timeoutMs }) {
    const { gapMs, drainMs } = this.#transport
    const afterActMs = this.#lastActMs + Math.max(gapMs, pauseBetweenMs)
    if (this.#dirtySinceMs === null) return Math.max(afterActMs, this.#lastByteMs + gapMs)
    return Math.max(afterActMs, Math.min(this.#lastByteMs + drainMs, this.#dirtySinceMs + timeoutMs))
  }

  /** @param {Station} station */
  #start (station) {
    const job = station.take()
    const { options: { unit, timeoutMs } } = station
    const { pdu, replyLength } = job.request
    const waitMs = timeoutMs + (pdu.length + replyLength + FRAME_EXTRA) * this.#transport.charMs
    const isDoubtful = this.#framing.capacity === 1 && station.health.state === 'silent'
    /** @type {Sent} */
    const exchange = { unit, request: job.request, station, job, waitMs, sentMs: performance.now(), isDoubtful, isAnswered: false, timer: undefined }
    exchange.timer = setTimeout(() => setImmediate(() => this.#timedOut(exchange)), waitMs) // what came while the process was busy is read before
    this.#sent.add(exchange)
    this.#served.add(station)
    this.#lastActMs = exchange.sentMs
    this.#dirtySinceMs = null
    return this.#framing.start(exchange)
  }

  /** @param {Sent} exchange */
  #end (exchange) {
    clearTimeout(exchange.timer)
    this.#sent.delete(exchange)
    this.#framing.end(exchange)
    this.#lastActMs = performance.now()
    this.#wake()
  }

  /** @param {Uint8Array} chunk */
  #received (chunk) {
    this.#lastByteMs = performance.now()
    this.#fruitless = 0
    clearTimeout(this.#drainTimer)
    if (this.#sent.size === 0) this.#unawaited()
    for (const arrival of this.#framing.receive(chunk)) {
      if ('lost' in arrival) return this.#notModbus(arrival.lost)
      const exchange = /** @type {Sent} */ (arrival.exchange)
      if (exchange.isDoubtful) {
        this.#doubt(exchange, arrival.answer)
      } else if (this.#sent.has(exchange)) {
        this.#end(exchange)
        this.#settle(exchange, arrival.answer)
      }
    }
    if (this.#framing.complaint()?.isWhole) this.#drainTimer = setTimeout(() => this.#misanswered(), this.#transport.drainMs)
  }

  /**
   * Where nothing tells replies apart, the first after a silence may be the late one to what was asked before. Once no other follows for as
   * long as the device usually takes, the
   * same is asked again, and the last answer to that counts. A write need not be: its reply repeats it.
   * @param {Sent} exchange @param {import('./pdu.js').Answer} answer
   */
  #doubt (exchange, answer) {
    const { station: { health: { latencyMs }, options: { timeoutMs } } } = exchange
    const quietMs = Math.min(timeoutMs, Math.max(this.#transport.drainMs, 2 * (latencyMs ?? 0)))
    exchange.isAnswered = true
    clearTimeout(exchange.timer)
    exchange.timer = setTimeout(() => {
      exchange.sentMs += quietMs // which is none of the device's latency
      this.#end(exchange)
      if (exchange.job.isRepeated || exchange.request.byteCount === null) this.#settle(exchange, answer)
      else exchange.station.repeat(exchange.job)
    }, quietMs)
  }

  /** @param {Sent} exchange @param {import('./pdu.js').Answer} answer */
  #settle (exchange, answer) {
    if (this.#givenUp === exchange.station) this.#givenUp = null
    if ('values' in answer) this.#link.proven()
    exchange.station.answered(exchange.job, answer, exchange.sentMs)
  }

  /** Nothing followed a frame that was none: it was the answer, spoilt. */
  #misanswered () {
    const [exchange] = this.#sent
    const problem = this.#framing.complaint()?.text
    if (!exchange || exchange.isAnswered || !problem) return
    this.#dirtySinceMs ??= performance.now()
    this.#end(exchange)
    this.#settle(exchange, { problem })
  }

  #unawaited () {
    this.#dirtySinceMs ??= performance.now()
    if (this.#givenUp) for (const station of this.#likes(this.#givenUp)) station.cameLate()
  }

  /** @param {Sent} exchange */
  #timedOut (exchange) {
    if (!this.#sent.has(exchange) || exchange.isAnswered) return
    const { station, job, sentMs, waitMs } = exchange
    const problem = this.#framing.complaint()?.text
    this.#dirtySinceMs ??= performance.now()
    if (this.#framing.capacity === 1) this.#givenUp = station
    this.#served.clear()
    this.#end(exchange)
    station.unanswered(job, { sentMs, waitMs, problem })
    for (const other of this.#likes(station)) if (other !== station) other.unansweredElsewhere(sentMs)
    this.#countFruitless(sentMs, waitMs)
  }

  /** Those that ask the same device. @param {Station} station */
  #likes (station) {
    return this.#stations.filter(({ options }) => options.unit === station.options.unit)
  }

  /**
   * It tells nothing of the connection as long as one device is good: that others are dead is not its fault.
   * @param {number} sentMs
   * @param {number} waitMs
   */
  #countFruitless (sentMs, waitMs) {
    if (!this.#transport.canHang || this.#stations.some(({ isGood }) => isGood) || sentMs < this.#fruitlessSinceMs || this.#lastByteMs > sentMs) return
    this.#fruitlessSinceMs = performance.now()
    if (++this.#fruitless < FRUITLESS_TIMEOUTS) return
    this.#link.drop(new Error(`nothing came through it during ${FRUITLESS_TIMEOUTS} timeouts of ${Math.round(waitMs)} ms`))
  }

  /** @param {string} reason */
  #notModbus (reason) {
    for (const exchange of [...this.#sent]) {
      this.#end(exchange)
      exchange.station.answered(exchange.job, { problem: reason }, exchange.sentMs)
    }
    this.#link.drop(new Error(`it sends what is not Modbus: ${reason}`))
  }
}
