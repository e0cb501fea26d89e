import { withTexts } from './choices.js'
import { pgnOf, sourceAddressOf } from '../j1939/identifier.js'
import { TransportAssembler } from '../j1939/transport.js'

/**
 * @typedef {import('./message.js').Message} Message
 * @typedef {import('./signal.js').Value} Value
 */

/**
 * Finds the message of a frame and reads its signals. J1939 and NMEA 2000 messages are found by parameter group number: priority and
 * destination never matter, and the source address only where the DBC gives one group to several addresses.
 * @template {'numbers'|'texts'} [C='numbers']
 */
export class Decoder {
  /** @type {Map<number, Message>} */
  #standard = new Map()
  /** @type {Map<number, Message>} */
  #extended = new Map()
  /** @type {Map<number, Message>} */
  #groups = new Map()
  /** By group and source address. @type {Map<number, Message>} */
  #groupsOfSource = new Map()

  /**
   * @param {Message[]} messages
   * @param {{choices?: C}} [options]  `texts`: a signal that has a table of values is read as the name of its value (its digits where the
   *   table has none)
   */
  constructor (messages, { choices } = {}) {
    for (const message of choices === 'texts' ? withTexts(messages) : messages) {
      if (!message.isParameterGroup) {
        (message.extended ? this.#extended : this.#standard).set(message.id, message)
        continue
      }
      this.#groupsOfSource.set(groupOfSource(message.id), message)
      const pgn = pgnOf(message.id)
      if (!this.#groups.has(pgn)) this.#groups.set(pgn, message)
    }
  }

  /** @param {number} id @param {boolean} extended @returns {Message|undefined} */
  find (id, extended) {
    if (!extended) return this.#standard.get(id)
    return this.#extended.get(id) ?? this.#groupsOfSource.get(groupOfSource(id)) ?? this.#groups.get(pgnOf(id))
  }

  /** What is to put the messages of several frames together before they are decoded; null where the DBC has no parameter groups. */
  newAssembler () {
    if (this.#groups.size === 0) return null
    return new TransportAssembler({ isFastPacket: pgn => this.#groups.get(pgn)?.isFastPacket ?? false })
  }

  /**
   * One value per signal of the message, undefined where it is missing; undefined for a frame the DBC does not know or that is too
   * short for any signal of its message.
   * @param {number} id @param {boolean} extended @param {Uint8Array} data
   * @returns {{message: Message, values: ((C extends 'texts' ? Value|string : Value)|undefined)[]}|undefined}
   */
  decode (id, extended, data) {
    const message = this.find(id, extended)
    if (!message || data.length < message.bytes) return undefined
    return { message, values: message.signals.map(signal => /** @type {any} */ (signal.read(data))) }
  }
}

/** @param {number} id */
function groupOfSource (id) {
  return pgnOf(id) * 256 + sourceAddressOf(id)
}
