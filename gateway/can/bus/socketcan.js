import { systemClock } from '../../clock/system-clock.js'
import { backoff } from '../../base/backoff.js'
import { describe, SluiceError } from '../../base/errors.js'
import { refuseMisfit } from './sendable.js'
import { unionOf } from './id-filter.js'
import { CanInterface } from './interface.js'
import { KernelClock } from './kernel-clock.js'
import { Listeners } from './listeners.js'

/**
 * @typedef {import('./bus.js').Bus} Bus
 * @typedef {import('./bus.js').Frame} Frame
 *
 * @typedef {{interface: string, sending: boolean, fd: boolean, bitrate: number, dataBitrate: number}} SocketcanOptions
 * @typedef {{id: number, ext?: boolean, rtr?: boolean, err?: boolean, data: Uint8Array, ts_sec?: number, ts_usec?: number}} Message  as the
 *   package socketcan has it
 * @typedef {object} RawChannel  of the package socketcan 4
 * @property {(event: 'onMessage'|'onStopped', run: (message: any) => void) => void} addListener
 * @property {() => void} start
 * @property {() => void} stop
 * @property {(message: object) => number} send  bytes, or -1 where the kernel has no room
 * @property {(message: object) => number} sendFD
 * @property {(filters: import('./id-filter.js').KernelFilter[]) => void} setRxFilters
 *
 * @typedef {object} System
 * @property {() => Promise<{createRawChannelWithOptions: (name: string, options: object) => RawChannel}>} [load]  loads the package
 * @property {string} [sysfs]
 */

const LOOK_MS = 1000
/** `ip` is a process of its own, started only so often. */
const LOOKS_PER_DETAILS = 10
const MAX_LOOKS_BETWEEN_TRIES = 30
const MAX_CLASSIC_BYTES = 8
const MAX_FRAMES = 1000
const MAX_WAITING = 1000
/** How long to wait for room in the queue of the interface, time after time: 127 ms in all. */
const ROOM_MS = [1, 2, 4, 8, 16, 32, 64]
const EVERYTHING = [{ id: 0, mask: 0 }]
/** An 11-bit identifier of 29 bits. */
const NOTHING = [{ id: 0x1FFFFFFF, mask: 0x9FFFFFFF }]

/**
 * An interface of Linux. It need not exist yet, and may disappear and come back: it is looked for each second, and opened again. Frames are
 * sent through a socket of their own, so that they are heard here as by every other program.
 *
 * Times are the kernel's. The package does not report whether a received frame of at most 8 bytes was CAN FD: it counts as a classic one.
 * @param {SocketcanOptions} options
 * @param {import('./bus.js').BusContext} context
 * @param {System} [system]
 * @returns {Promise<Bus>}
 * @throws {SluiceError} SLUICE_CAN_SOCKETCAN
 */
export async function openSocketcan (options, context, { load = loadSocketcan, sysfs } = {}) {
  const { createRawChannelWithOptions } = await load()
  const makeChannel = (/** @type {string} */ name) => createRawChannelWithOptions(name, { timestamps: true, non_block_send: true })
  const bus = new SocketcanBus(options, context, makeChannel, new CanInterface(options.interface, sysfs))
  await bus.look()
  return bus
}

/** @implements {Bus} */
class SocketcanBus {
  counters = { drops: 0, reopened: 0 }
  #options
  #log
  #clock
  #makeChannel
  #interface
  #listeners
  #kernelClock
  /** @type {RawChannel|null} */
  #receiving = null
  /** @type {RawChannel|null} */
  #sending = null
  /** Heard in this turn of the event loop. @type {Frame[]} */
  #frames = []
  /** @type {bigint[]} */
  #times = []
  #turn = Promise.resolve()
  #waiting = 0
  /** @type {import('./interface.js').Counts|null} */
  #counts = null
  /** @type {import('./interface.js').Details|null} */
  #details = null
  #framesPerSecond = 0
  #problem = ''
  #looks = 0
  #detailsAt = 0
  #tryAt = 0
  #tries = 0
  #opened = false
  #looking = Promise.resolve()
  #closing = new AbortController()
  #stopLooking

  /**
   * @param {SocketcanOptions} options
   * @param {import('./bus.js').BusContext} context
   * @param {(name: string) => RawChannel} makeChannel
   * @param {CanInterface} canInterface
   */
  constructor (options, { log, clock = systemClock }, makeChannel, canInterface) {
    this.name = options.interface
    this.#options = options
    this.#log = log
    this.#clock = clock
    this.#makeChannel = makeChannel
    this.#interface = canInterface
    this.#listeners = new Listeners(options)
    this.#kernelClock = new KernelClock(clock)
    this.#stopLooking = clock.every(LOOK_MS, () => { this.look() })
  }

  /** @param {import('./bus.js').Listener} listener */
  listen (listener) {
    const stop = this.#listeners.add(listener)
    this.#filter()
    return () => {
      stop()
      this.#filter()
    }
  }

  /** @param {Frame} frame */
  async send (frame) {
    const { sending, fd } = this.#options
    if (!sending) {
      throw new SluiceError('SLUICE_CAN_SEND', `Sending to ${this.name} is not allowed.`, { fix: 'Allow it in the form of the bus.' })
    }
    refuseMisfit(frame, fd, this.name)
    if (this.#waiting === MAX_WAITING) throw this.#refusal(`${MAX_WAITING} frames wait to be sent already`)
    this.#waiting++
    const turn = this.#turn.then(() => this.#sendNow(frame)).finally(() => { this.#waiting-- })
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** @returns {string|undefined} */
  trouble () {
    if (!this.#counts) return `there is no interface ${this.name}`
    if (!this.#counts.isUp) return `${this.name} is down`
    if (!this.#receiving) return this.#problem || `${this.name} is being opened`
    const state = this.#state
    return state === 'error-active' ? undefined : `${this.name}: ${state}`
  }

  gauge () {
    const report = this.#listeners.statistics.report(this.#clock.nowNs())
    return {
      ...report,
      ...this.#rates(report),
      state: this.#state,
      isUp: this.#counts?.isUp ?? false,
      reopened: this.counters.reopened,
      waiting: this.#waiting
    }
  }

  async close () {
    this.#closing.abort()
    this.#stopLooking()
    await Promise.all([this.#turn, this.#looking])
    this.#stopChannels()
  }

  /** Reads the state of the interface, and opens it where it is not open. */
  look () {
    this.#looking = this.#looking.then(() => this.#look()).catch(error => this.#log.error(describe(error)))
    return this.#looking
  }

  /**
   * Frames that the kernel filters out are in its counters; they are taken to be as long as those that are heard.
   * @param {import('./statistics.js').BusReport} heard
   */
  #rates ({ framesPerSecond, loadPercent }) {
    if (!unionOf(this.#listeners.filters)) return { framesPerSecond, loadPercent }
    const load = loadPercent === null || framesPerSecond === 0 ? null : loadPercent * this.#framesPerSecond / framesPerSecond
    return { framesPerSecond: this.#framesPerSecond, loadPercent: load === null ? null : Math.round(load * 100) / 100 }
  }

  /** As the kernel reports it; otherwise as the error frames do. @returns {string} */
  get #state () {
    if (this.#counts?.isUp && !this.#counts.hasCarrier) return 'bus-off'
    return this.#details?.state ?? this.#listeners.statistics.state
  }

  async #look () {
    if (this.#closing.signal.aborted) return
    const before = this.#counts
    this.#counts = await this.#interface.counts()
    this.#looks++
    if (!this.#counts) {
      this.#stopChannels()
      this.#details = null
      this.#detailsAt = this.#tryAt = 0
      return
    }
    if (before) this.#compare(before, this.#counts)
    if (this.#looks >= this.#detailsAt) await this.#lookAtDetails()
    if (!this.#receiving && this.#counts.isUp && this.#looks >= this.#tryAt && !this.#closing.signal.aborted) this.#open()
  }

  /** @param {import('./interface.js').Counts} before @param {import('./interface.js').Counts} now */
  #compare (before, now) {
    this.#framesPerSecond = Math.max(0, now.frames - before.frames) * 1000 / LOOK_MS
    const drops = Math.max(0, now.drops - before.drops)
    this.counters.drops += drops
    this.#listeners.statistics.drop(drops)
  }

  async #lookAtDetails () {
    this.#detailsAt = this.#looks + LOOKS_PER_DETAILS
    this.#details = await this.#interface.details()
    const { bitrate, dataBitrate } = this.#options
    const { statistics } = this.#listeners
    statistics.bitrate = bitrate || this.#details?.bitrate || 0
    statistics.dataBitrate = dataBitrate || this.#details?.dataBitrate || 0
  }

  #open () {
    try {
      const channel = this.#makeChannel(this.name)
      channel.addListener('onMessage', message => this.#hear(message))
      channel.addListener('onStopped', () => this.#lost(channel))
      channel.start()
      this.#receiving = channel
      this.#filter()
    } catch (error) {
      this.#problem = `${this.name} cannot be opened: ${describe(error)}`
      if (this.#tries === 0) this.#log.warn(`${this.#problem}. It is tried again and again.`)
      this.#tryAt = this.#looks + backoff(this.#tries++, { first: 1, max: MAX_LOOKS_BETWEEN_TRIES })
      return
    }
    if (this.#opened) this.counters.reopened++
    this.#opened = true
    this.#tries = 0
    this.#problem = ''
  }

  /** What its listeners want, as far as the kernel can select it. */
  #filter () {
    this.#receiving?.setRxFilters(unionOf(this.#listeners.filters) ?? EVERYTHING)
  }

  /** It has stopped by itself: the interface has disappeared. @param {RawChannel} channel */
  #lost (channel) {
    if (channel === this.#receiving) this.#receiving = null
  }

  #stopChannels () {
    const channel = this.#receiving
    this.#receiving = null
    this.#sending = null
    channel?.stop()
  }

  /** @param {Message} message */
  #hear ({ id, ext = false, rtr = false, err = false, data, ts_sec: seconds, ts_usec: microseconds }) {
    if (err) this.#detailsAt = 0
    if (this.#frames.length === 0) setImmediate(() => this.#tell())
    const kind = err ? 'error' : rtr ? 'remote' : 'data'
    this.#frames.push({ stamp: null, bus: this.name, id, extended: ext, kind, fd: data.length > MAX_CLASSIC_BYTES, data })
    this.#times.push(this.#kernelClock.timeOf(seconds, microseconds))
    if (this.#frames.length === MAX_FRAMES) this.#tell()
  }

  #tell () {
    const frames = this.#frames
    const times = BigInt64Array.from(this.#times)
    this.#frames = []
    this.#times = []
    if (frames.length > 0) this.#listeners.hear(frames, times)
  }

  /** @param {Frame} frame */
  async #sendNow ({ id, extended, kind, fd, data }) {
    const message = { id, ext: extended, rtr: kind === 'remote', data: Buffer.from(data) }
    for (const waitMs of [...ROOM_MS, 0]) {
      if (this.#closing.signal.aborted) throw this.#refusal('it is being closed')
      const channel = this.#sending ??= this.#openToSend()
      if ((fd ? channel.sendFD(message) : channel.send(message)) > 0) return
      if (waitMs > 0) await this.#clock.sleep(waitMs, this.#closing.signal)
    }
    this.#sending = null
    throw this.#refusal(this.trouble() ?? 'its queue is full: more is sent than it can carry, or no other node on the bus acknowledges')
  }

  #openToSend () {
    try {
      const channel = this.#makeChannel(this.name)
      channel.setRxFilters(NOTHING)
      return channel
    } catch (cause) {
      throw this.#refusal(this.trouble() ?? describe(cause), cause)
    }
  }

  /** @param {string} reason @param {unknown} [cause] */
  #refusal (reason, cause) {
    return new SluiceError('SLUICE_CAN_SEND', `${this.name} does not accept the frame: ${reason}.`, { cause })
  }
}

/** @returns {Promise<any>} */
async function loadSocketcan () {
  const problem = process.platform === 'linux' ? '' : 'SocketCAN is a part of Linux, and this is another system.'
  if (problem) throw new SluiceError('SLUICE_CAN_SOCKETCAN', problem, { fix: 'Play a log, or use a virtual bus.' })
  try {
    const name = 'socketcan' // a variable: it is not installed everywhere, and the types need not know it
    const module = await import(name)
    return module.default ?? module
  } catch (cause) {
    throw new SluiceError('SLUICE_CAN_SOCKETCAN', 'The package socketcan is missing or was not compiled.', {
      cause, fix: 'Run "npm install socketcan" in the user directory of Node-RED; it needs python3, make and a C++ compiler.'
    })
  }
}
