import { Decoder } from '../dbc/decoder.js'
import { MessageRows } from './message-rows.js'
import { MAX_ROWS } from './rows.js'
import { RowsByBus } from './rows-by-bus.js'

/**
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {import('../dbc/message.js').Message} Message
 * @typedef {import('./rows.js').Sorter} Sorter
 */

/**
 * Rows of signals: a source per message, `<name>.<message>`, with a row for each frame, or for each message that J1939 or NMEA 2000 sends
 * in several frames. It counts ids that the DBC file does not know (`unknownIds`), frames too short for any signal (`undecodable`), and
 * what holds no signal: `errorFrames`, and as `otherFrames` remote frames and messages without signals.
 * @implements {Sorter}
 */
export class SignalSorter {
  #name
  #decoder
  #transport
  #counters
  #warnOnce
  #stamp
  /** @type {RowsByBus<Message, MessageRows>} */
  #rows

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {Message[]} options.messages
   * @param {'numbers'|'texts'} [options.choices]
   * @param {import('./rows.js').RowCounters} options.counters
   * @param {(kind: string, text: string) => void} options.warnOnce
   * @param {(ns: bigint) => bigint} [options.stamp]  the time of a row, from that of its frame
   * @param {number} [options.maxBuses]
   */
  constructor ({ name, messages, choices = 'numbers', counters, warnOnce, stamp = ns => ns, maxBuses }) {
    const decoder = new Decoder(messages, { choices })
    this.#name = name
    this.#decoder = decoder
    this.#transport = decoder.newAssembler()
    this.#counters = counters
    this.#warnOnce = warnOnce
    this.#stamp = stamp
    this.#rows = new RowsByBus(maxBuses)
  }

  /** @returns {Record<string, number>} */
  get transported () { return this.#transport?.counters ?? {} }

  /** @param {bigint} ns @param {Frame} frame */
  put (ns, frame) {
    const whole = this.#transport ? this.#transport.take(frame, ns) : frame
    const rows = whole && this.#rowsOf(whole)
    if (!rows) return undefined
    rows.add(this.#stamp(ns), whole)
    this.#counters.rows++
    return rows
  }

  /** Whether a bus has rows of its own, or would get them. @param {string} bus */
  hasRoomFor (bus) {
    return this.#rows.hasRoomFor(bus)
  }

  all () {
    return this.#rows.all()
  }

  /** Forgets all rows, which must have been taken. */
  clear () {
    this.#rows.clear()
  }

  /** @param {Frame} frame */
  #rowsOf ({ kind, id, extended, data, bus }) {
    const counters = this.#counters
    if (kind === 'error' && counters.errorFrames !== undefined) {
      counters.errorFrames++
      return undefined
    }
    if (kind !== 'data') {
      counters.otherFrames++
      return undefined
    }
    const message = this.#decoder.find(id, extended)
    if (!message) {
      counters.unknownIds++
      return undefined
    }
    if (message.signals.length === 0) {
      counters.otherFrames++
      return undefined
    }
    if (data.length < message.bytes) {
      counters.undecodable++
      const fault = `${message.name} of ${data.length} data bytes is too short for any of its signals`
      this.#warnOnce('short', `${fault}. Such frames are counted and left out.`)
      return undefined
    }
    return this.#rows.get(bus, message, name =>
      new MessageRows(message, { source: `${this.#name}.${message.name}`, bus: name, capacity: MAX_ROWS }))
  }
}
