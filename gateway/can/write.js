import { systemClock } from '../clock/system-clock.js'
import { describe, SluiceError } from '../base/errors.js'
import { readOptions } from '../base/options.js'
import { readDbcFile } from './dbc/file.js'
import { frameOf } from './dbc/encoder.js'
import { framesOf } from './payload.js'

/**
 * @typedef {import('./bus/bus.js').Bus} Bus
 * @typedef {import('./bus/bus.js').Frame} Frame
 * @typedef {import('./dbc/message.js').Message} Message
 * @typedef {{frame: Frame, cycle?: {message: string, periodMs: number}}} Order  what is to be sent, and if it is to be repeated, how often;
 *   0: no more
 */

const TICK_MS = 5
const NS_PER_MS = 1_000_000n

export const schema = {
  type: 'object',
  title: 'CAN write',
  description: 'Sends frames to a CAN bus: messages of a DBC file with the values of their signals, or frames as they are.',
  properties: {
    dbcFile: {
      type: 'string',
      title: 'DBC file',
      description: 'Describes the messages that can be sent by name. Empty: only frames as they are.',
      default: '',
      'x-dbc': true,
      'x-labels': { '': 'none' }
    },
    cyclic: {
      type: 'array',
      title: 'Cyclic messages',
      description: 'Each is repeated with the values it was sent with last, from the first time on.',
      maxItems: 200,
      default: [],
      'x-unique': ['message'],
      items: {
        type: 'object',
        required: ['message'],
        properties: {
          message: { type: 'string', title: 'Message', description: 'As the DBC file names it.', minLength: 1, maxLength: 200 },
          periodMs: {
            type: 'integer',
            title: 'Period',
            description: 'From one frame to the next.',
            minimum: 5,
            maximum: 3_600_000,
            default: 100,
            'x-unit': 'ms'
          }
        }
      }
    }
  }
}

/**
 * Sends messages to a bus, once or again and again.
 *
 * Counters: `sent` frames, `repeated` ones among them; `refused` messages; `failed`, frames that the bus did not accept; `skipped`
 * repetitions, whose time passed while this process was busy or the bus had not yet accepted the last one.
 */
export class CanWriter {
  counters = { sent: 0, repeated: 0, refused: 0, failed: 0, skipped: 0 }
  #bus
  #clock
  /** @type {Map<string, Message>} */
  #messages
  /** in milliseconds, by message @type {Map<string, number>} */
  #periods = new Map()
  /** @type {Map<string, {frame: Frame, periodNs: bigint, nextNs: bigint, isOnItsWay: boolean}>} by message */
  #cycles = new Map()
  /** @type {(() => void)|null} */
  #stopTicking = null
  #problem = ''
  #closed = false

  /**
   * @param {object} options  as in the schema
   * @param {{bus: Bus, clock?: import('../clock/system-clock.js').Clock}} context
   * @throws {SluiceError} SLUICE_OPTIONS, those of readDbcFile, SLUICE_CAN_MESSAGE
   */
  constructor (options, { bus, clock = systemClock }) {
    const { dbcFile, cyclic } = readOptions(schema, options)
    this.#bus = bus
    this.#clock = clock
    this.#messages = new Map(dbcFile === '' ? [] : readDbcFile(dbcFile).messages.map(message => [message.name, message]))
    for (const { message, periodMs } of cyclic) this.#periods.set(this.#messageOf(message).name, periodMs)
  }

  /**
   * Checks a message as a whole, then sends it.
   *
   * Its payload is `{message, signals, sourceAddress, destination, cycleMs}`, of which all but the first two may be missing; or an object
   * of signals, where the topic is a message's name, with or without a source before it as in `can.EngineData`; or frames as for
   * `framesOf`; or an array of these. `cycleMs` repeats the message from now on; 0 ends that.
   * @param {{payload?: unknown, topic?: unknown}} message
   * @returns {Promise<Frame[]>} what was sent
   * @throws {SluiceError} SLUICE_CAN_MESSAGE, SLUICE_CAN_ENCODE and SLUICE_CAN_FRAME before anything is sent; SLUICE_CAN_SEND,
   *   SLUICE_CAN_READ_ONLY; once it is closed SLUICE_CAN_SEND
   */
  async write ({ payload, topic }) {
    const orders = this.#check(payload, topic)
    for (const { frame, cycle } of orders) {
      if (this.#closed) throw new SluiceError('SLUICE_CAN_SEND', 'The frame is not sent: its sender is being closed.')
      if (cycle) this.#repeat(frame, cycle)
      await this.#send(frame)
    }
    return orders.map(({ frame }) => frame)
  }

  /** What went wrong with the last repetition. @returns {string|undefined} */
  trouble () {
    return this.#problem || undefined
  }

  /** @returns {Record<string, number>} */
  gauge () {
    return { ...this.counters, cyclicMessages: this.#cycles.size }
  }

  close () {
    this.#closed = true
    this.#stopTicking?.()
    this.#cycles.clear()
  }

  /** @param {unknown} payload @param {unknown} topic */
  #check (payload, topic) {
    try {
      const orders = this.#ordersOf(payload, topic)
      if (orders.length === 0) throw new SluiceError('SLUICE_CAN_FRAME', 'There is nothing to send.')
      return orders
    } catch (error) {
      this.counters.refused++
      throw error
    }
  }

  /** @param {any} payload @param {unknown} topic @returns {Order[]} */
  #ordersOf (payload, topic) {
    if (Array.isArray(payload)) return payload.flatMap(part => this.#ordersOf(part, topic))
    if (typeof payload?.message === 'string') return [this.#orderOf(payload)]
    const named = typeof topic === 'string' && isValues(payload) ? this.#messageOfTopic(topic) : undefined
    if (named) return [this.#orderOf({ message: named.name, signals: payload })]
    const { frames, refused } = framesOf(payload)
    if (refused.length > 0) {
      const hint = isValues(payload) && refused[0].reason === 'it has no id' ? ' Nor is its topic a message of the DBC file.' : ''
      throw new SluiceError('SLUICE_CAN_FRAME', `This is not a frame: ${refused[0].reason}.${hint}`)
    }
    return frames.map(({ frame }) => ({ frame }))
  }

  /** @param {any} payload @returns {Order} */
  #orderOf ({ message: name, signals = {}, sourceAddress, destination, cycleMs }) {
    const message = this.#messageOf(name)
    if (!isValues(signals)) throw new SluiceError('SLUICE_CAN_FRAME', `The signals of ${name} must be an object of values.`)
    if (cycleMs !== undefined && !(Number.isInteger(cycleMs) && (cycleMs === 0 || cycleMs >= TICK_MS))) {
      throw new SluiceError('SLUICE_CAN_FRAME', `The cycleMs of ${name} must be a whole number of ${TICK_MS} at least, or 0.`)
    }
    const { id, extended, fd, data } = frameOf(message, signals, { sourceAddress, destination })
    const periodMs = cycleMs ?? this.#periods.get(name)
    /** @type {Frame} */
    const frame = { stamp: null, bus: this.#bus.name, id, extended, kind: 'data', fd, data }
    return periodMs === undefined ? { frame } : { frame, cycle: { message: name, periodMs } }
  }

  /** @param {string} topic  a message's name, with or without a source before it */
  #messageOfTopic (topic) {
    return this.#messages.get(topic) ?? this.#messages.get(topic.slice(topic.lastIndexOf('.') + 1))
  }

  /** @param {string} name */
  #messageOf (name) {
    const message = this.#messages.get(name)
    if (message) return message
    throw new SluiceError('SLUICE_CAN_MESSAGE', this.#messages.size === 0
      ? `Without a DBC file, there is no message "${name}".`
      : `The DBC file has no message "${name}".`)
  }

  /** @param {Frame} frame */
  async #send (frame) {
    try {
      await this.#bus.send(frame)
      this.counters.sent++
    } catch (error) {
      this.counters.failed++
      throw error
    }
  }

  /** @param {Frame} frame @param {{message: string, periodMs: number}} cycle */
  #repeat (frame, { message, periodMs }) {
    if (periodMs === 0) this.#cycles.delete(message)
    else {
      const periodNs = BigInt(periodMs) * NS_PER_MS
      this.#cycles.set(message, { frame, periodNs, nextNs: this.#clock.nowNs() + periodNs, isOnItsWay: false })
    }
    if (this.#cycles.size > 0) this.#stopTicking ??= this.#clock.every(TICK_MS, () => this.#tick())
    else {
      this.#stopTicking?.()
      this.#stopTicking = null
      this.#problem = ''
    }
  }

  /** Repeats what is due, once, and not while the last repetition still waits to be sent: old values are not worth a burst. */
  #tick () {
    const now = this.#clock.nowNs()
    for (const cycle of this.#cycles.values()) {
      if (cycle.nextNs > now) continue
      const passed = (now - cycle.nextNs) / cycle.periodNs
      this.counters.skipped += Number(passed)
      cycle.nextNs += (passed + 1n) * cycle.periodNs
      if (cycle.isOnItsWay) this.counters.skipped++
      else {
        cycle.isOnItsWay = true
        this.#send(cycle.frame).then(() => {
          this.counters.repeated++
          this.#problem = ''
        }, error => { this.#problem = describe(error) }).finally(() => { cycle.isOnItsWay = false })
      }
    }
  }
}

/** @param {any} value */
function isValues (value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)
}
