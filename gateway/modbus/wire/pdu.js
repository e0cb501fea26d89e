import { ADDRESSES, isBits } from '../../../resources/modbus-addresses.js'
import { SluiceError } from '../../base/errors.js'

/**
 * Requests and replies without their framing ("MODBUS application protocol specification" 1.1b3): a function code and its data.
 *
 * @typedef {import('../../../resources/modbus-addresses.js').Area} Area
 * @typedef {Uint8Array|Uint16Array} Values  registers, or bits as 0 and 1
 *
 * @typedef {object} Request
 * @property {Uint8Array} pdu
 * @property {number} replyLength  bytes of the PDU that answers it, except of an exception
 * @property {number|null} byteCount  the second byte of that PDU, which counts the data bytes; null where it means something else
 * @property {(pdu: Uint8Array) => Answer} read  reads a PDU as the answer to it
 *
 * @typedef {{values: Values}|{exception: number}|{problem: string}} Answer  `problem`: why it is not an answer to this request. The answer
 *   to a write has no values
 */

export { isBits }

/** Function codes. */
export const READ = { coils: 1, 'discrete-inputs': 2, 'holding-registers': 3, 'input-registers': 4 }
export const WRITE_ONE = { coils: 5, 'holding-registers': 6 }
export const WRITE_SEVERAL = { coils: 15, 'holding-registers': 16 }

/** Set in the function code of a reply that is an exception. */
export const EXCEPTION_BIT = 0x80

/** @type {Record<number, string>} */
export const EXCEPTIONS = {
  1: 'illegal function',
  2: 'illegal address',
  3: 'illegal value',
  4: 'device failure',
  5: 'accepted, still at work',
  6: 'busy',
  7: 'negative acknowledgement',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'the device behind the gateway does not answer'
}

export const MAX_READ = { bits: 2000, registers: 125 }
export const MAX_WRITTEN = { bits: 1968, registers: 123 }

const COIL_ON = 0xFF00

/**
 * @param {Area} area @param {number} address  from 0 @param {number} count
 * @returns {Request}
 * @throws {SluiceError} SLUICE_MODBUS_REQUEST
 */
export function readRequest (area, address, count) {
  const functionCode = READ[area]
  const bits = isBits(area)
  if (!functionCode) throw misuse(`There is no area "${area}".`)
  checkRange(address, count, MAX_READ[bits ? 'bits' : 'registers'])
  const byteCount = bits ? count + 7 >>> 3 : 2 * count
  return {
    pdu: header(functionCode, address, count, 5),
    replyLength: 2 + byteCount,
    byteCount,
    read (pdu) {
      const other = withoutData(pdu, functionCode, 2 + byteCount)
      if (other) return other
      if (pdu[1] !== byteCount) return { problem: `it announces ${pdu[1]} bytes of data instead of ${byteCount}` }
      return { values: bits ? unpackBits(pdu, count) : unpackRegisters(pdu, count) }
    }
  }
}

/**
 * @param {'coils'|'holding-registers'} area @param {number} address  from 0
 * @param {ArrayLike<number>} values  registers from 0 to 65535; for coils, all but 0 is on
 * @param {{multiple?: boolean}} [options]  `multiple`: always with functions 15 and 16
 * @returns {Request}
 * @throws {SluiceError} SLUICE_MODBUS_REQUEST
 */
export function writeRequest (area, address, values, { multiple = false } = {}) {
  const count = values.length
  const bits = isBits(area)
  if (!WRITE_ONE[area]) throw misuse(`${area} cannot be written.`)
  checkRange(address, count, MAX_WRITTEN[bits ? 'bits' : 'registers'])
  if (!bits) checkRegisters(values)
  const single = count === 1 && !multiple
  const pdu = single
    ? header(WRITE_ONE[area], address, bits ? values[0] ? COIL_ON : 0 : values[0], 5)
    : withData(header(WRITE_SEVERAL[area], address, count, 6 + (bits ? count + 7 >>> 3 : 2 * count)), bits, values)
  return { pdu, replyLength: 5, byteCount: null, read: reply => withoutData(reply, pdu[0], 5) ?? confirmation(reply, pdu) }
}

/** @param {Uint8Array} pdu @param {number} functionCode @param {number} length @returns {Answer|undefined} */
function withoutData (pdu, functionCode, length) {
  if (pdu[0] === (functionCode | EXCEPTION_BIT)) {
    return pdu.length === 2 ? { exception: pdu[1] } : { problem: `an exception of ${pdu.length} bytes` }
  }
  if (pdu[0] !== functionCode) return { problem: `function ${pdu[0]} instead of ${functionCode}` }
  if (pdu.length !== length) return { problem: `${pdu.length} bytes instead of ${length}` }
}

/** A write is confirmed by its own first five bytes. @param {Uint8Array} reply @param {Uint8Array} pdu @returns {Answer} */
function confirmation (reply, pdu) {
  for (let i = 1; i < 5; i++) if (reply[i] !== pdu[i]) return { problem: 'it confirms another write' }
  return { values: new Uint16Array(0) }
}

/** @param {number} functionCode @param {number} address @param {number} word @param {number} length */
function header (functionCode, address, word, length) {
  const pdu = new Uint8Array(length)
  pdu[0] = functionCode
  pdu[1] = address >>> 8
  pdu[2] = address
  pdu[3] = word >>> 8
  pdu[4] = word
  return pdu
}

/** @param {Uint8Array} pdu @param {boolean} bits @param {ArrayLike<number>} values */
function withData (pdu, bits, values) {
  pdu[5] = pdu.length - 6
  for (let i = 0; i < values.length; i++) {
    if (!bits) {
      pdu[6 + 2 * i] = values[i] >>> 8
      pdu[7 + 2 * i] = values[i]
    } else if (values[i]) {
      pdu[6 + (i >>> 3)] |= 1 << (i & 7)
    }
  }
  return pdu
}

/** @param {Uint8Array} pdu @param {number} count */
function unpackRegisters (pdu, count) {
  const registers = new Uint16Array(count)
  for (let i = 0; i < count; i++) registers[i] = pdu[2 + 2 * i] << 8 | pdu[3 + 2 * i]
  return registers
}

/** @param {Uint8Array} pdu @param {number} count */
function unpackBits (pdu, count) {
  const bits = new Uint8Array(count)
  for (let i = 0; i < count; i++) bits[i] = pdu[2 + (i >>> 3)] >>> (i & 7) & 1
  return bits
}

/** @param {number} address @param {number} count @param {number} max */
function checkRange (address, count, max) {
  if (!Number.isInteger(address) || address < 0 || address >= ADDRESSES) {
    throw misuse(`${address} is not an address: these go from 0 to 65535.`)
  }
  if (!Number.isInteger(count) || count < 1 || count > max) throw misuse(`One request is for 1 to ${max} values, not for ${count}.`)
  if (address + count > ADDRESSES) throw misuse(`${count} values from address ${address} exceed the last address, 65535.`)
}

/** @param {ArrayLike<number>} values */
function checkRegisters (values) {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isInteger(values[i]) || values[i] < 0 || values[i] > 0xFFFF) throw misuse(`A register holds 0 to 65535, not ${values[i]}.`)
  }
}

/** @param {string} text */
function misuse (text) {
  return new SluiceError('SLUICE_MODBUS_REQUEST', text)
}
