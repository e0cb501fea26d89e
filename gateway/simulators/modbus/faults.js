import { faultProblem } from '../../../resources/modbus-registers.js'
import { readUnits } from '../../../resources/units.js'
import { SluiceError } from '../../base/errors.js'
import { readOptions } from '../../base/options.js'
import { fractionAt } from '../../base/random.js'
import { exceptionTo } from './answer.js'
import { commandSchema, FAULTS } from './fault.schema.js'

/**
 * @typedef {keyof typeof FAULTS} Kind
 *
 * @typedef {object} Row  of the table of faults
 * @property {Kind} fault
 * @property {string} unit  a list; '' is all
 * @property {number} percent
 * @property {number} delayMs
 * @property {number} exception
 *
 * @typedef {Omit<Row, 'fault'> & {fault: Kind|'none'|'offline', seconds: number}} Command
 *
 * @typedef {object} Fault  that may happen
 * @property {Row} row
 * @property {Set<number>|null} units  null is all
 * @property {bigint|null} untilNs
 *
 * @typedef {object} Exchange  what a fault can spoil
 * @property {import('./framing.js').Request} request
 * @property {() => Uint8Array} perform  does what is asked, and returns the PDU of the reply
 * @property {(address: {transaction: number, unit: number}, pdu: Uint8Array) => Uint8Array} frame
 * @property {() => number} random  0 to 1
 *
 * @typedef {import('./session.js').Reply} Reply
 */

const MAX_FAULTS = 100
const MAX_GARBAGE_BYTES = 32
const NS_PER_S = 1e9

/** What comes of a request. @type {Record<Kind, (exchange: Exchange, row: Row) => Reply|null>} */
const effects = {
  delay: (exchange, { delayMs }) => ({ bytes: right(exchange), waitMs: delayMs }),
  silence: () => null,
  exception: ({ request, frame }, { exception }) => ({ bytes: frame(request, exceptionTo(request.pdu, exception)) }),
  'wrong-length': ({ request, frame, perform }) => ({ bytes: frame(request, perform().slice(0, -1)) }),
  garbage: exchange => {
    const noise = Uint8Array.from({ length: 1 + Math.floor(exchange.random() * MAX_GARBAGE_BYTES) }, () => exchange.random() * 256)
    return { bytes: exchange.random() < 0.5 ? noise : Buffer.concat([noise, right(exchange)]) }
  },
  drop: exchange => {
    const bytes = right(exchange)
    return { bytes: bytes.subarray(0, bytes.length >>> 1), hangsUp: true }
  },
  'wrong-unit': ({ request, frame, perform }) => ({ bytes: frame({ ...request, unit: request.unit % 247 + 1 }, perform()) }),
  'wrong-transaction': ({ request, frame, perform }) => {
    return { bytes: frame({ ...request, transaction: request.transaction ^ 0x8000 }, perform()) }
  },
  'bad-crc': exchange => {
    const bytes = right(exchange)
    bytes[bytes.length - 1] ^= 0xFF
    return { bytes }
  }
}

/** The faults of a simulator: those that may happen now, and which one does. */
export class Faults {
  /** How often each has happened. @type {Record<string, number>} */
  counters = Object.fromEntries(Object.keys(FAULTS).map(kind => [kind, 0]))
  /** the newest first; those of the table come last @type {Fault[]} */
  #faults
  #framing
  #seed
  #nowNs
  #drawn = 0

  /**
   * @param {Row[]} rows
   * @param {{framing: 'tcp'|'rtu', seed: number, nowNs: () => bigint}} context
   * @throws {SluiceError} SLUICE_OPTIONS
   */
  constructor (rows, { framing, seed, nowNs }) {
    this.#framing = framing
    this.#seed = seed
    this.#nowNs = nowNs
    this.#faults = rows.map(row => this.#fault(row, null))
  }

  /** What may happen now, in a few words: "silence of 3 for 8 s", "delay 10 %". */
  get texts () {
    this.#forgetPast()
    return this.#faults.map(({ row: { fault, unit, percent }, untilNs }) => {
      const left = untilNs === null ? '' : ` for ${Math.ceil(Number(untilNs - this.#nowNs()) / NS_PER_S)} s`
      return `${fault}${percent < 100 ? ` ${percent} %` : ''}${unit === '' ? '' : ` of ${unit.trim()}`}${left}`
    })
  }

  /**
   * Has a fault happen from now on, instead of one of the same kind and units.
   * @param {Command & {fault: Kind}} command
   * @throws {SluiceError} SLUICE_OPTIONS, SLUICE_MODBUS_FAULT
   */
  add (command) {
    const { seconds, ...row } = command
    const untilNs = seconds > 0 ? this.#nowNs() + BigInt(Math.round(seconds * NS_PER_S)) : null
    const added = this.#fault(row, untilNs)
    this.#forgetPast()
    const others = this.#faults.filter(({ row: { fault, unit } }) => fault !== row.fault || unit !== row.unit)
    if (others.length >= MAX_FAULTS) {
      throw new SluiceError('SLUICE_MODBUS_FAULT', `There are ${MAX_FAULTS} faults already.`, { fix: 'End them with {fault: "none"}.' })
    }
    this.#faults = [added, ...others]
  }

  clear () {
    this.#faults = []
  }

  /** What comes of a request, with or without a fault. @param {Omit<Exchange, 'random'>} exchange @returns {Reply|null} */
  apply (exchange) {
    const fault = this.#faults.length > 0 ? this.#happening(exchange.request.unit) : undefined
    if (!fault) return { bytes: right(exchange) }
    this.counters[fault.row.fault]++
    return effects[fault.row.fault]({ ...exchange, random: () => this.#random() }, fault.row)
  }

  /** @param {number} unit */
  #happening (unit) {
    this.#forgetPast()
    return this.#faults.find(({ units, row: { percent } }) => (units === null || units.has(unit)) && this.#random() * 100 < percent)
  }

  #forgetPast () {
    if (this.#faults.every(({ untilNs }) => untilNs === null)) return
    const now = this.#nowNs()
    this.#faults = this.#faults.filter(({ untilNs }) => untilNs === null || untilNs > now)
  }

  #random () {
    return fractionAt(this.#seed, this.#drawn++)
  }

  /** @param {Row} row @param {bigint|null} untilNs @returns {Fault} */
  #fault (row, untilNs) {
    const { problem } = faultProblem(row, this.#framing, commandSchema.properties.unit.title) ?? {}
    if (problem) throw new SluiceError('SLUICE_OPTIONS', problem)
    return { row, units: row.unit === '' ? null : readUnits(row.unit), untilNs }
  }
}

/**
 * @param {unknown} given
 * @returns {Command}
 * @throws {SluiceError} SLUICE_MODBUS_FAULT, SLUICE_OPTIONS
 */
export function readCommand (given) {
  const known = Object.keys(commandSchema.properties)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw misuse('A fault is an object', known)
  const stray = Object.keys(given).find(key => !known.includes(key))
  if (stray !== undefined) throw misuse(`A fault has no "${stray}"`, known)
  return readOptions(commandSchema, given)
}

/** @param {string} text @param {string[]} known */
function misuse (text, known) {
  return new SluiceError('SLUICE_MODBUS_FAULT', `${text}: it has ${known.join(', ')}.`, {
    fix: 'Send for example {"fault": "silence", "unit": 3, "seconds": 10}.'
  })
}

/** The right frame of the reply. @param {Omit<Exchange, 'random'>} exchange */
function right ({ request, frame, perform }) {
  return frame(request, perform())
}
