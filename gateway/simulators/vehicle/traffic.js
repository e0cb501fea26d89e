import { derive } from '../../base/random.js'
import { Cycle, Sporadic, takeDue } from './schedule.js'
import { SignalValues } from './signal-values.js'
import { Car } from './car.js'

/**
 * What is sent on a simulated bus, and when.
 *
 * @typedef {import('../../can/dbc/message.js').Message} Message
 * @typedef {{ns: bigint, message: Message, values: Record<string, unknown>}} Sending
 * @typedef {object} Traffic
 * @property {(ns: bigint) => Sending[]} take  what is due until then, in order
 * @property {(ns: bigint) => number} skip  leaves out what was due until then; returns how many frames of cyclic messages that is
 *
 * @typedef {{messages: Message[], periodMsOf: (message: Message) => number, startNs: bigint, seed: number}} TrafficOptions  `periodMsOf`: 0
 *   of a message that is sent when something happens
 */

/** Between the first frames of two messages: a bus carries one after the other. */
const STAGGER_NS = 250_000n
const MEAN_SECONDS = 5

/**
 * A car's messages: each has the channels that its signals are named after; those without a cycle time are sent by the car's events.
 * @implements {Traffic}
 */
export class CarTraffic {
  #car
  #cycles
  #messages
  #startNs
  /** @type {Map<Message, Set<string>>} */
  #signals

  /** @param {TrafficOptions} options */
  constructor ({ messages, periodMsOf, startNs, seed }) {
    this.#car = new Car(seed)
    this.#startNs = startNs
    this.#messages = new Map(messages.map(message => [message.name, message]))
    this.#signals = new Map(messages.map(message => [message, new Set(message.signals.map(({ name }) => name))]))
    this.#cycles = cyclesOf({ messages, periodMsOf, startNs })
  }

  /** @param {bigint} ns @returns {Sending[]} */
  take (ns) {
    const sendings = takeDue(this.#cycles, ns).flatMap(({ ns: dueNs, message, index }) => [
      ...this.#eventsUntil(dueNs), { ns: dueNs, message, values: this.#valuesOf(message, index) }
    ])
    return [...sendings, ...this.#eventsUntil(ns)]
  }

  /** The car stands still meanwhile. @param {bigint} ns */
  skip (ns) {
    const carNs = this.#startNs + BigInt(Math.round(this.#car.seconds * 1e9))
    if (ns > carNs) this.#startNs += ns - carNs
    return this.#cycles.reduce((sum, cycle) => sum + cycle.skip(ns), 0)
  }

  /** @param {bigint} ns @returns {Sending[]} */
  #eventsUntil (ns) {
    this.#car.driveTo(Number(ns - this.#startNs) / 1e9)
    return this.#car.events.splice(0).flatMap(({ seconds, message: name, values }) => {
      const message = this.#messages.get(name)
      return message ? [{ ns: this.#startNs + BigInt(Math.round(seconds * 1e9)), message, values }] : []
    })
  }

  /** @param {Message} message @param {number} index */
  #valuesOf (message, index) {
    const signals = this.#signals.get(message)
    return Object.fromEntries(Object.entries({ ...this.#car.channels(), counter: index % 256 }).filter(([name]) => signals?.has(name)))
  }
}

/**
 * The messages of any DBC file, with values that move within the range of each signal. Those whose cycle time is 0 are sent now and then.
 * @implements {Traffic}
 */
export class DbcTraffic {
  #senders
  /** @type {Map<Message, SignalValues>} */
  #values

  /** @param {TrafficOptions} options */
  constructor ({ messages, periodMsOf, startNs, seed }) {
    const sporadic = messages.filter(message => periodMsOf(message) === 0)
    this.#senders = [
      ...cyclesOf({ messages, periodMsOf, startNs }),
      ...sporadic.map((message, i) => new Sporadic(message, startNs, { meanSeconds: MEAN_SECONDS, seed: derive(seed, i) }))
    ]
    this.#values = new Map(messages.map((message, i) => {
      const seconds = periodMsOf(message) / 1000 || MEAN_SECONDS
      return [message, new SignalValues(message, { seconds, seed: derive(seed, i) })]
    }))
  }

  /** @param {bigint} ns @returns {Sending[]} */
  take (ns) {
    return takeDue(this.#senders, ns).map(({ ns: dueNs, message, index }) => {
      return { ns: dueNs, message, values: this.#values.get(message)?.at(index) ?? {} }
    })
  }

  /** @param {bigint} ns */
  skip (ns) {
    return this.#senders.reduce((sum, sender) => sum + sender.skip(ns), 0)
  }
}

/** @param {Omit<TrafficOptions, 'seed'>} options */
function cyclesOf ({ messages, periodMsOf, startNs }) {
  const cyclic = messages.filter(message => periodMsOf(message) > 0)
  return cyclic.map((message, i) => new Cycle(message, startNs + BigInt(i) * STAGGER_NS, periodMsOf(message)))
}
