import { readUnits } from '../../../resources/units.js'
import { systemClock } from '../../clock/system-clock.js'
import { describe } from '../../base/errors.js'
import { readOptions } from '../../base/options.js'
import { derive } from '../../base/random.js'
import { READ } from '../../modbus/wire/pdu.js'
import { answer } from './answer.js'
import { Faults, readCommand } from './faults.js'
import { rtuFraming, tcpFraming } from './framing.js'
import { networkPort, serialPort } from './ports.js'
import { schema } from './schema.js'
import { Session } from './session.js'
import { Unit } from './unit.js'

export { schema }

/**
 * @typedef {import('./answer.js').Write} Write
 * @typedef {import('./framing.js').Request} Request
 *
 * @typedef {object} Counters  since it was opened
 * @property {number} requests  to its units
 * @property {number} writes  of them that were done
 * @property {number} otherUnits  requests to units that it does not have
 * @property {number} badRequests  stretches of bytes that are not a request
 * @property {number} connections  that masters have made
 * @property {Record<number, number>} functions  requests by function code
 * @property {Record<string, number>} faults  by kind
 */

const REOPEN_MS = 1000
const BROADCAST = 0
const READ_FUNCTIONS = new Set(Object.values(READ))

/**
 * Starts simulated Modbus devices. They answer by the standard until they are made to fail.
 * @param {object} options  as in the schema
 * @param {object} context
 * @param {import('../../base/log.js').Log} context.log
 * @param {Pick<import('../../clock/system-clock.js').Clock, 'nowNs'>} [context.clock]
 * @param {(write: Write) => void} [context.onWrite]  a master has written; a write to all units counts for each
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_OPTIONS, SLUICE_MODBUS_LISTEN, SLUICE_MODBUS_SERIALPORT
 */
export async function openModbusSimulator (options, context) {
  const simulator = new ModbusSimulator(readOptions(schema, options), context)
  await simulator.open()
  return simulator
}

export class ModbusSimulator {
  /** Where masters reach it: "127.0.0.1:1502", or the serial port. */
  address = ''
  /** @type {Counters} */
  counters
  /** Masters connected now. */
  masters = 0
  #context
  #clock
  #startNs
  /** @type {Map<number, Unit>} */
  #units
  #faults
  #port
  #frame
  /** while it is offline; `isTold`: the log has that it cannot come back @type {{timer?: NodeJS.Timeout, isTold?: boolean}|null} */
  #offline = null
  #turn = Promise.resolve()
  #isClosed = false

  /** @param {any} options @param {Parameters<typeof openModbusSimulator>[1]} context */
  constructor (options, context) {
    const { connection, units, registers, others, faults, seed } = options
    this.#context = context
    this.#clock = context.clock ?? systemClock
    this.#startNs = this.#clock.nowNs()
    const unitOptions = { hasOthers: others === 'zero', seed: derive(seed, 0) }
    this.#units = new Map(Array.from(readUnits(units), unit => [unit, new Unit(unit, registers, unitOptions)]))
    const framing = connection === 'tcp' ? 'tcp' : 'rtu'
    this.#faults = new Faults(faults, { framing, seed: derive(seed, 1), nowNs: this.#clock.nowNs })
    const makeFraming = framing === 'tcp' ? tcpFraming : rtuFraming
    const accept = (/** @type {import('node:stream').Duplex} */ stream) => { this.#accept(stream, makeFraming()) }
    this.#frame = makeFraming().frame
    this.#port = connection === 'rtu' ? serialPort(options, accept) : networkPort(options, accept)
    this.counters = { requests: 0, writes: 0, otherUnits: 0, badRequests: 0, connections: 0, functions: {}, faults: this.#faults.counters }
  }

  /** The TCP port it listens on; undefined of a serial line. @returns {number|undefined} */
  get port () { return this.#port.number }

  /** The numbers of its units. */
  get units () { return [...this.#units.keys()] }

  /** The faults that may happen now, in a few words each. */
  get faults () { return this.#offline ? ['offline'] : this.#faults.texts }

  async open () {
    this.address = await this.#port.open()
  }

  /**
   * Has a fault happen from now on, for a time or until it is ended: `{fault: 'silence', unit: 3, seconds: 10}`, `{fault: 'none'}`. It
   * replaces one of the same kind and units.
   * @param {unknown} given  as in `commandSchema`
   * @returns {Promise<void>} when it has come into effect
   * @throws {import('../../base/errors.js').SluiceError} SLUICE_MODBUS_FAULT, SLUICE_OPTIONS, at once
   */
  setFault (given) {
    const command = readCommand(given)
    const { fault } = command
    if (fault === 'offline') return this.#next(() => this.#goOffline(command.seconds))
    if (fault !== 'none') {
      this.#faults.add({ ...command, fault })
      return Promise.resolve()
    }
    this.#faults.clear()
    return this.#next(() => this.#comeBack())
  }

  /** Ends all connections. */
  close () {
    return this.#next(async () => {
      this.#isClosed = true
      clearTimeout(this.#offline?.timer)
      await this.#port.close()
    })
  }

  /** @param {import('node:stream').Duplex} stream @param {import('./framing.js').ServerFraming} framing */
  #accept (stream, framing) {
    this.counters.connections++
    this.masters++
    return new Session(stream, framing, {
      request: request => this.#reply(request),
      bad: stretches => { this.counters.badRequests += stretches },
      failed: error => this.#context.log.error(`The simulator at ${this.address} failed: ${describe(error)}`),
      closed: () => {
        this.masters--
        if (this.port === undefined) this.#lost()
      }
    })
  }

  /** @param {Request} request */
  #reply (request) {
    const { unit: number, pdu } = request
    const unit = this.#units.get(number)
    if (!unit && number !== BROADCAST) {
      this.counters.otherUnits++
      return null
    }
    this.counters.requests++
    this.counters.functions[pdu[0]] = (this.counters.functions[pdu[0]] ?? 0) + 1
    if (unit) return this.#faults.apply({ request, perform: () => this.#perform(unit, pdu), frame: this.#frame })
    if (!READ_FUNCTIONS.has(pdu[0])) for (const each of this.#units.values()) this.#perform(each, pdu)
    return null
  }

  /** @param {Unit} unit @param {Uint8Array} request */
  #perform (unit, request) {
    const { pdu, write } = answer(unit, request, this.#moment())
    if (write) {
      this.counters.writes++
      this.#context.onWrite?.(write)
    }
    return pdu
  }

  #moment () {
    const nowNs = this.#clock.nowNs()
    return { elapsedS: Number(nowNs - this.#startNs) / 1e9, wallS: Number(nowNs / 1_000_000n) / 1e3 }
  }

  /** @param {number} seconds  0 by default */
  async #goOffline (seconds) {
    if (this.#isClosed) return
    clearTimeout(this.#offline?.timer)
    this.#offline = seconds > 0 ? { timer: this.#comeBackIn(seconds * 1000) } : {}
    await this.#port.close()
  }

  async #comeBack () {
    if (!this.#offline || this.#isClosed) return
    const { timer, isTold } = this.#offline
    clearTimeout(timer)
    try {
      await this.open()
      this.#offline = null
    } catch (error) {
      if (!isTold) this.#context.log.error(`${describe(error)} It tries again.`)
      this.#offline = { isTold: true, timer: this.#comeBackIn(REOPEN_MS) }
    }
  }

  /** A serial port disappears, as when its adapter is pulled out. */
  #lost () {
    if (this.#offline || this.#isClosed) return
    this.#context.log.warn(`${this.address} is gone. The simulator looks for it.`)
    this.#offline = { timer: this.#comeBackIn(REOPEN_MS) }
  }

  /** @param {number} ms */
  #comeBackIn (ms) {
    return setTimeout(() => this.#next(() => this.#comeBack()), ms)
  }

  /** @param {() => Promise<void>} step */
  #next (step) {
    const turn = this.#turn.then(step)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
