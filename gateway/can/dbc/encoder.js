import { SluiceError } from '../../base/errors.js'
import { addressedTo, isAddressed } from '../j1939/identifier.js'

/**
 * @typedef {import('./message.js').Message} Message
 * @typedef {import('./message.js').MessageSignal} MessageSignal
 * @typedef {{id: number, extended: boolean, fd: boolean, data: Uint8Array}} SendableFrame
 */

const MAX_CLASSIC_BYTES = 8
const FD_LENGTHS = [12, 16, 20, 24, 32, 48, 64]
const MAX_ADDRESS = 255

/**
 * The data of a message. In a multiplexed message the switches' values select the signals that are in it. A signal that is not given is 0
 * or, in J1939 and NMEA 2000, "not available", which null means too; there, bits that belong to no signal are ones.
 * @param {Message} message
 * @param {Record<string, unknown>} values  physical values by signal: numbers, bigints, booleans, names of values, digits
 * @returns {Uint8Array}
 * @throws {SluiceError} SLUICE_CAN_ENCODE for a value out of its range or not of this frame, and for a name that is not a signal
 */
export function encodeMessage (message, values) {
  const given = (/** @type {MessageSignal} */ { name }) => Object.hasOwn(values, name) ? values[name] ?? undefined : undefined
  const names = new Set(message.signals.map(({ name }) => name))
  const unknown = Object.keys(values).find(name => !names.has(name))
  if (unknown !== undefined) throw refusal(message, `has no signal ${unknown}`)

  const data = new Uint8Array(message.length).fill(message.isParameterGroup ? 0xFF : 0)
  const signals = message.signals.filter(signal => fits(signal, message, given(signal)))
  // What a switch selects is known only once its value is written. Where signals overlap, those given win over those absent.
  const switches = signals.filter(({ isSwitch }) => isSwitch).sort((one, other) => one.level - other.level)
  const others = signals.filter(({ isSwitch }) => !isSwitch)
  const absent = others.filter(signal => given(signal) === undefined)
  const present = others.filter(signal => given(signal) !== undefined)
  for (const signal of [...switches, ...absent, ...present]) {
    if (signal.isSelected?.(data) ?? true) signal.write(data, given(signal))
    else if (given(signal) !== undefined) throw refusal(message, `has signal ${signal.name} only where ${signal.condition}`)
  }
  return data
}

/**
 * The frame of a message. Data of a length that no CAN FD frame has is padded with zeros.
 * @param {Message} message
 * @param {Record<string, unknown>} values  as for `encodeMessage`
 * @param {{sourceAddress?: number, destination?: number}} [addresses]  of a parameter group, in place of those in the DBC's identifier
 * @returns {SendableFrame}
 * @throws {SluiceError} SLUICE_CAN_ENCODE
 */
export function frameOf (message, values, { sourceAddress, destination } = {}) {
  const { id, extended, length } = message
  const data = encodeMessage(message, values)
  const fd = length > MAX_CLASSIC_BYTES
  if (fd && message.isParameterGroup) {
    throw refusal(message, `has ${length} bytes: a parameter group of more than ${MAX_CLASSIC_BYTES} cannot be sent in one frame`)
  }
  const frameLength = fd ? FD_LENGTHS.find(possible => possible >= length) : length
  if (frameLength === undefined) throw refusal(message, `has ${length} bytes: no frame is as long`)
  const padded = new Uint8Array(frameLength)
  padded.set(data)
  return { id: addressed(message, id, { sourceAddress, destination }), extended, fd, data: padded }
}

/** @param {Message} message @param {number} id @param {{sourceAddress?: number, destination?: number}} addresses */
function addressed (message, id, addresses) {
  for (const [what, address] of Object.entries(addresses)) {
    if (address === undefined) continue
    if (!message.isParameterGroup) throw refusal(message, 'is not a parameter group: it has no addresses')
    if (!Number.isInteger(address) || address < 0 || address > MAX_ADDRESS) {
      throw refusal(message, `cannot have the ${what} ${address}: addresses are 0 to ${MAX_ADDRESS}`)
    }
  }
  if (addresses.destination !== undefined && !isAddressed(id)) throw refusal(message, 'is sent to all: it has no destination')
  return addressedTo(id, addresses)
}

/** Whether the message is long enough for a signal. @param {MessageSignal} signal @param {Message} message @param {unknown} value */
function fits (signal, message, value) {
  if (signal.bytes <= message.length) return true
  if (value !== undefined) throw refusal(message, `has ${message.length} bytes: signal ${signal.name} reaches beyond`)
  return false
}

/** @param {Message} message @param {string} reason */
function refusal (message, reason) {
  return new SluiceError('SLUICE_CAN_ENCODE', `Message ${message.name} ${reason}.`)
}
