import { fractionAt } from '../../base/random.js'

/**
 * When messages are sent.
 *
 * @typedef {import('../../can/dbc/message.js').Message} Message
 * @typedef {Cycle|Sporadic} Sender
 */

/** A message that is sent again and again, at exact times. */
export class Cycle {
  #startNs
  #periodNs
  #next = 0

  /** @param {Message} message @param {bigint} startNs @param {number} periodMs */
  constructor (message, startNs, periodMs) {
    this.message = message
    this.#startNs = startNs
    this.#periodNs = BigInt(Math.max(1, Math.round(periodMs * 1e6)))
  }

  get nextNs () { return this.#startNs + BigInt(this.#next) * this.#periodNs }

  /** The number of the next one, from 0 on. */
  take () {
    return this.#next++
  }

  /** Leaves out what was due until then. @param {bigint} ns @returns {number} how many frames that is */
  skip (ns) {
    const before = this.#next
    if (this.nextNs <= ns) this.#next = Number((ns - this.#startNs) / this.#periodNs) + 1
    return this.#next - before
  }
}

/** A message that is sent now and then. */
export class Sporadic {
  #meanSeconds
  #seed
  #next = 0
  nextNs

  /** @param {Message} message @param {bigint} startNs @param {{meanSeconds: number, seed: number}} options */
  constructor (message, startNs, { meanSeconds, seed }) {
    this.message = message
    this.#meanSeconds = meanSeconds
    this.#seed = seed
    this.nextNs = startNs
    this.#wait()
  }

  take () {
    this.#wait()
    return this.#next - 2
  }

  /** Nothing has happened meanwhile. @param {bigint} ns */
  skip (ns) {
    while (this.nextNs <= ns) this.#wait()
    return 0
  }

  #wait () {
    this.nextNs += BigInt(Math.ceil(-Math.log(1 - fractionAt(this.#seed, this.#next++)) * this.#meanSeconds * 1e9) + 1)
  }
}

/**
 * What is due until then, in order. Afterwards it is not due any more.
 * @param {Sender[]} senders
 * @param {bigint} ns
 * @returns {{ns: bigint, message: Message, index: number}[]}
 */
export function takeDue (senders, ns) {
  const due = []
  for (const sender of senders) {
    while (sender.nextNs <= ns) due.push({ ns: sender.nextNs, message: sender.message, index: sender.take() })
  }
  return due.sort((a, b) => a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0)
}
