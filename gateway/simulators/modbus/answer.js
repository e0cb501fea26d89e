import { EXCEPTION_BIT, isBits, MAX_READ, MAX_WRITTEN, READ, WRITE_ONE, WRITE_SEVERAL } from '../../modbus/wire/pdu.js'

/**
 * The device's side of the protocol ("MODBUS application protocol specification" 1.1b3), without framing.
 *
 * @typedef {import('../../modbus/wire/pdu.js').Area} Area
 * @typedef {import('./unit.js').Unit} Unit
 *
 * @typedef {object} Write  what a master has written
 * @property {number} unit
 * @property {Area} area
 * @property {number} address
 * @property {number[]|boolean[]} values  coils are booleans
 *
 * @typedef {{pdu: Uint8Array, write?: Write}} Answer
 * @typedef {(unit: Unit, request: DataView, moment: import('./shapes.js').Moment) => Answer|number} Handler  a number is an exception
 */

const ILLEGAL_FUNCTION = 1
const ILLEGAL_ADDRESS = 2
const ILLEGAL_VALUE = 3
const COIL_ON = 0xFF00

/** By function code. @type {Map<number, Handler>} */
const handlers = new Map([
  ...each(READ, reading),
  ...each(WRITE_ONE, writingOne),
  ...each(WRITE_SEVERAL, writingSeveral)
])

/**
 * @param {Unit} unit
 * @param {Uint8Array} pdu  of the request, at least the function code
 * @param {import('./shapes.js').Moment} moment
 * @returns {Answer}
 */
export function answer (unit, pdu, moment) {
  const handle = handlers.get(pdu[0])
  const result = handle ? handle(unit, new DataView(pdu.buffer, pdu.byteOffset, pdu.length), moment) : ILLEGAL_FUNCTION
  return typeof result === 'number' ? { pdu: exceptionTo(pdu, result) } : result
}

/** @param {Uint8Array} pdu  of the request @param {number} code */
export function exceptionTo (pdu, code) {
  return Uint8Array.of(pdu[0] | EXCEPTION_BIT, code)
}

/** @param {Record<string, number>} codes  by area @param {(area: Area) => Handler} make @returns {[number, Handler][]} */
function each (codes, make) {
  return Object.entries(codes).map(([area, code]) => [code, make(/** @type {Area} */ (area))])
}

/** @param {Area} area @returns {Handler} */
function reading (area) {
  const max = isBits(area) ? MAX_READ.bits : MAX_READ.registers
  return (unit, request, moment) => {
    if (request.byteLength !== 5) return ILLEGAL_VALUE
    const [address, count] = [request.getUint16(1), request.getUint16(3)]
    if (count < 1 || count > max) return ILLEGAL_VALUE
    if (!unit.has(area, address, count)) return ILLEGAL_ADDRESS
    return { pdu: reply(request.getUint8(0), area, unit.read(area, address, count, moment)) }
  }
}

/** @param {Area} area @returns {Handler} */
function writingOne (area) {
  return (unit, request) => {
    if (request.byteLength !== 5) return ILLEGAL_VALUE
    const [address, word] = [request.getUint16(1), request.getUint16(3)]
    if (isBits(area) && word !== 0 && word !== COIL_ON) return ILLEGAL_VALUE
    if (!unit.has(area, address, 1)) return ILLEGAL_ADDRESS
    return written(unit, request, area, address, Uint16Array.of(isBits(area) ? word / COIL_ON : word))
  }
}

/** @param {Area} area @returns {Handler} */
function writingSeveral (area) {
  const max = isBits(area) ? MAX_WRITTEN.bits : MAX_WRITTEN.registers
  return (unit, request) => {
    if (request.byteLength < 6) return ILLEGAL_VALUE
    const [address, count, bytes] = [request.getUint16(1), request.getUint16(3), request.getUint8(5)]
    if (count < 1 || count > max || bytes !== bytesOf(area, count) || request.byteLength !== 6 + bytes) return ILLEGAL_VALUE
    if (!unit.has(area, address, count)) return ILLEGAL_ADDRESS
    const bitAt = (/** @type {number} */ i) => request.getUint8(6 + (i >>> 3)) >>> (i & 7) & 1
    const registerAt = (/** @type {number} */ i) => request.getUint16(6 + 2 * i)
    const valueAt = isBits(area) ? bitAt : registerAt
    return written(unit, request, area, address, Uint16Array.from({ length: count }, (_, i) => valueAt(i)))
  }
}

/**
 * A write is confirmed by its own first five bytes.
 * @param {Unit} unit
 * @param {DataView} request
 * @param {Area} area
 * @param {number} address
 * @param {Uint16Array} values
 * @returns {Answer}
 */
function written (unit, request, area, address, values) {
  unit.write(area, address, values)
  return {
    pdu: new Uint8Array(request.buffer.slice(request.byteOffset, request.byteOffset + 5)),
    write: { unit: unit.number, area, address, values: isBits(area) ? Array.from(values, Boolean) : Array.from(values) }
  }
}

/** @param {Area} area @param {number} count  of bits or registers */
function bytesOf (area, count) {
  return isBits(area) ? count + 7 >>> 3 : 2 * count
}

/** @param {number} functionCode @param {Area} area @param {Uint16Array} values */
function reply (functionCode, area, values) {
  const bytes = bytesOf(area, values.length)
  const pdu = new Uint8Array(2 + bytes)
  pdu[0] = functionCode
  pdu[1] = bytes
  values.forEach((value, i) => {
    if (isBits(area)) {
      pdu[2 + (i >>> 3)] |= value << (i & 7)
    } else {
      pdu[2 + 2 * i] = value >>> 8
      pdu[3 + 2 * i] = value
    }
  })
  return pdu
}
