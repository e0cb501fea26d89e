import { Closings } from './closings.js'
import { Link } from './link.js'
import { Rota } from './rota.js'
import { Station } from './station.js'

/**
 * @typedef {object} Pending  an exchange's request on this line
 * @property {Station} station
 * @property {import('./job.js').Job} job
 * @property {number} sentMs
 * @property {number} waitMs
 * @property {boolean} isDoubtful  its first reply may be the late one to an earlier request
 * @property {boolean} isAnswered
 * @property {NodeJS.Timeout|undefined} timer
 *
 * @typedef {import('./framing.js').Exchange & Pending} Sent
 * @typedef {import('./station.js').StationOptions} StationOptions
 *
 * @typedef {object} LineOptions
 * @property {number} firstRetryMs  of the connection
 * @property {number} longestRetryMs
 * @property {() => number} random
 */

const MAX_FRUITLESS_TIMEOUTS = 3
/** Unit and checksum, of request and reply. */
const FRAME_BYTES = 6

/** One connection and the devices that are asked over it in turn. */
export class Line {
  #rota = new Rota()
  /** @type {Set<Sent>} */
  #sent = new Set()
  #transport
  #framing
  #random
  #link
  #closings = new Closings()
  /** the connection that a device closed is opened again */
  #isRenewed = false
  #isWoken = false
  /** @type {NodeJS.Timeout|undefined} */
  #nextTimer
  /** @type {NodeJS.Timeout|undefined} */
  #drainTimer
  #lastActMs = -Infinity
  #lastByteMs = -Infinity
  /** since when the line has sent bytes that answer no pending request; null while it has not */
  /** @type {number|null} */
  #dirtySinceMs = null
  /** consecutive timeouts, each of a request sent after the previous one, without a byte */
  #fruitless = 0
  #fruitlessSinceMs = -Infinity
  /** @type {Station|null} its answer may still come */
  #givenUp = null
  /** @type {unknown} why it is down; null while it is up or not yet known */
  #downError = null

  /** @param {import('./transport.js').Transport} transport @param {import('./framing.js').Framing} framing @param {LineOptions} options */
  constructor (transport, framing, options) {
    this.#transport = transport
    this.#framing = framing
    this.#random = options.random
    this.#link = new Link(transport, options, {
      up: () => this.#up(),
      closed: reason => this.#closed(reason),
      down: (error, wasUp) => this.#down(error, wasUp),
      data: chunk => this.#received(chunk)
    })
  }

  /** @param {StationOptions} options @param {{log?: import('../../base/log.js').Log}} context */
  join (options, { log }) {
    const station = new Station(this.#transport.endpoint, options, { log, random: this.#random, wake: () => this.#wake() })
    this.#rota.stations.push(station)
    if (this.#downError) station.disconnected(this.#downError, false)
    return station
  }

  /** Rejects its waiting requests. One already sent occupies the line until its timeout. @param {Station} station */
  leave (station) {
    this.#rota.remove(station)
    if (this.#givenUp === station) this.#givenUp = null
    station.close()
  }

  async close () {
    this.#forgetSent()
    await this.#link.close()
  }

  /** What was pending. */
  #forgetSent () {
    const sent = [...this.#sent]
    this.#sent.clear()
    for (const { timer } of sent) clearTimeout(timer)
    clearTimeout(this.#nextTimer)
    clearTimeout(this.#drainTimer)
    return sent
  }

  #up () {
    this.#framing.reset()
    this.#closings.opened()
    this.#dirtySinceMs = null
    this.#fruitless = 0
    this.#givenUp = null
    this.#downError = null
    for (const station of this.#rota.stations) station.connected(this.#isRenewed)
    this.#isRenewed = false
    this.#wake()
  }

  /**
   * A device that has just answered may close the connection: its requests go on with the next one.
   * @param {unknown} reason @returns {boolean} whether there is to be one at once
   */
  #closed (reason) {
    const hasAnswered = this.#closings.closed(this.#sent.size > 0)
    if (!hasAnswered || !this.#rota.hasGood) return false
    for (const { station, job } of this.#forgetSent().reverse()) station.lost(job, reason)
    this.#isRenewed = true
    return true
  }

  /** @param {unknown} error @param {boolean} wasUp */
  #down (error, wasUp) {
    this.#forgetSent()
    this.#downError = error
    for (const station of this.#rota.stations) station.disconnected(error, wasUp || this.#isRenewed)
    this.#isRenewed = false
  }

  /** Sends after all callers just answered have made their next request, so that those go in one packet. */
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
    const capacity = Math.min(this.#framing.capacity, this.#closings.capacity, this.#rota.pipeline)
    if (capacity > 1) stream.cork()
    while (this.#sent.size < capacity) {
      const station = this.#next()
      if (!station) break
      stream.write(this.#start(station))
    }
    if (capacity > 1) stream.uncork()
  }

  /** The station whose turn it is. If none is ready, a timer checks again when one is. */
  #next () {
    const nowMs = performance.now()
    const { station, waitMs } = this.#rota.next(({ readyMs, options }) => Math.max(readyMs, this.#quietMs(options)) - nowMs)
    if (!station && waitMs < Infinity) this.#nextTimer = setTimeout(() => this.#sendAll(), Math.ceil(waitMs))
    return station
  }

  /**
   * When the line will have been quiet for long enough. A line that is never quiet is used after the timeout nevertheless: if the device is
   * then not understood, it backs off.
   * @param {StationOptions} options
   */
  #quietMs ({ pauseBetweenMs, timeoutMs }) {
    const { gapMs, drainMs } = this.#transport
    const afterActMs = Math.max(this.#lastActMs + Math.max(gapMs, pauseBetweenMs), this.#closings.untilMs(timeoutMs))
    if (this.#dirtySinceMs === null) return Math.max(afterActMs, this.#lastByteMs + gapMs)
    return Math.max(afterActMs, Math.min(this.#lastByteMs + drainMs, this.#dirtySinceMs + timeoutMs))
  }

  /** @param {Station} station */
  #start (station) {
    const job = station.take()
    const { options: { unit, timeoutMs } } = station
    const { pdu, replyLength } = job.request
    const waitMs = timeoutMs + (pdu.length + replyLength + FRAME_BYTES) * this.#transport.charMs
    const isDoubtful = this.#framing.capacity === 1 && station.health.state === 'silent'
    /** @type {Sent} */
    const exchange = {
      unit,
      request: job.request,
      station,
      job,
      waitMs,
      sentMs: performance.now(),
      isDoubtful,
      isAnswered: false,
      timer: undefined
    }
    // Bytes that arrived while the process was busy are read first.
    exchange.timer = setTimeout(() => setImmediate(() => this.#timedOut(exchange)), waitMs)
    this.#closings.sent()
    this.#sent.add(exchange)
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
   * Where nothing distinguishes replies, the first after a silence may be the late one to an earlier request. Once no other follows for as
   * long as the device usually takes, the request is repeated, and the last answer to that counts. A write need not be: its reply repeats
   * it.
   * @param {Sent} exchange @param {import('./pdu.js').Answer} answer
   */
  #doubt (exchange, answer) {
    const { station: { health: { latencyMs }, options: { timeoutMs } } } = exchange
    const quietMs = Math.min(timeoutMs, Math.max(this.#transport.drainMs, 2 * (latencyMs ?? 0)))
    exchange.isAnswered = true
    clearTimeout(exchange.timer)
    exchange.timer = setTimeout(() => {
      exchange.sentMs += quietMs // not part of the device's latency
      this.#end(exchange)
      if (exchange.job.isRepeated || exchange.request.byteCount === null) this.#settle(exchange, answer)
      else exchange.station.repeat(exchange.job)
    }, quietMs)
  }

  /** @param {Sent} exchange @param {import('./pdu.js').Answer} answer */
  #settle (exchange, answer) {
    if (this.#givenUp === exchange.station) this.#givenUp = null
    if (!('problem' in answer)) this.#closings.answered()
    if ('values' in answer) this.#link.proven()
    exchange.station.answered(exchange.job, answer, exchange.sentMs)
  }

  /** Nothing followed an invalid frame: it was the answer, corrupted. */
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
    if (this.#givenUp) for (const station of this.#rota.like(this.#givenUp)) station.cameLate()
  }

  /** @param {Sent} exchange */
  #timedOut (exchange) {
    if (!this.#sent.has(exchange) || exchange.isAnswered) return
    const { station, job, sentMs, waitMs } = exchange
    const problem = this.#framing.complaint()?.text
    this.#dirtySinceMs ??= performance.now()
    if (this.#framing.capacity === 1) this.#givenUp = station
    this.#rota.timedOut()
    this.#end(exchange)
    station.unanswered(job, { sentMs, waitMs, problem })
    for (const other of this.#rota.like(station)) if (other !== station) other.unansweredElsewhere(sentMs)
    this.#countFruitless(sentMs, waitMs)
  }

  /**
   * Timeouts say nothing about the connection while one device is good: that others are dead is not its fault.
   * @param {number} sentMs
   * @param {number} waitMs
   */
  #countFruitless (sentMs, waitMs) {
    if (!this.#transport.canHang || this.#rota.hasGood) return
    if (sentMs < this.#fruitlessSinceMs || this.#lastByteMs > sentMs) return
    this.#fruitlessSinceMs = performance.now()
    if (++this.#fruitless < MAX_FRUITLESS_TIMEOUTS) return
    this.#link.drop(new Error(`nothing was received during ${MAX_FRUITLESS_TIMEOUTS} timeouts of ${Math.round(waitMs)} ms`))
  }

  /** @param {string} reason */
  #notModbus (reason) {
    for (const exchange of [...this.#sent]) {
      this.#end(exchange)
      exchange.station.answered(exchange.job, { problem: reason }, exchange.sentMs)
    }
    this.#link.drop(new Error(`it sends data that is not Modbus: ${reason}`))
  }
}
