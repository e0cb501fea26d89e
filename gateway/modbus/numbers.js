import { WORDS } from '../../resources/modbus-tags.js'
import { SluiceError } from '../base/errors.js'
import { bytes, mover } from './bytes.js'

/**
 * @typedef {import('./values.js').Codec} Codec
 *
 * @typedef {object} NumberType
 * @property {import('../batch/batch.js').FieldType} field  the type of its column, unscaled
 * @property {number|bigint} lowest
 * @property {number|bigint} highest
 * @property {() => number|bigint|undefined} get  from `bytes`; undefined where it is bad
 * @property {(value: number|bigint) => void} set  into `bytes`
 * @property {() => string} fault  how `bytes` are bad
 */

const MAX_FLOAT32 = (2 - 2 ** -23) * 2 ** 127
const MAX_INT64 = 2n ** 63n - 1n

/** Integers that no column of their size holds are int64. @type {Record<string, NumberType>} */
export const NUMBERS = {
  int16: numberType('int16', -0x8000, 0x7FFF, () => bytes.getInt16(0), value => bytes.setInt16(0, Number(value))),
  uint16: numberType('uint16', 0, 0xFFFF, () => bytes.getUint16(0), value => bytes.setUint16(0, Number(value))),
  int32: numberType('int32', -(2 ** 31), 2 ** 31 - 1, () => bytes.getInt32(0), value => bytes.setInt32(0, Number(value))),
  uint32: numberType('int64', 0, 2 ** 32 - 1, () => bytes.getUint32(0), value => bytes.setUint32(0, Number(value))),
  int64: numberType('int64', -(2n ** 63n), MAX_INT64, () => bytes.getBigInt64(0), value => bytes.setBigInt64(0, BigInt(value))),
  uint64: {
    ...numberType('int64', 0n, 2n ** 64n - 1n, () => bytes.getBigUint64(0), value => bytes.setBigUint64(0, BigInt(value))),
    fault: () => `out of range: ${bytes.getBigUint64(0)}`
  },
  float32: numberType('float32', -MAX_FLOAT32, MAX_FLOAT32, () => bytes.getFloat32(0), value => bytes.setFloat32(0, Number(value))),
  float64: numberType(
    'float64', -Number.MAX_VALUE, Number.MAX_VALUE, () => bytes.getFloat64(0), value => bytes.setFloat64(0, Number(value))
  ),
  bcd16: {
    ...numberType('uint16', 0, 9999, () => fromBcd(bytes.getUint16(0), 4), value => bytes.setUint16(0, toBcd(Number(value)))),
    fault: () => 'bad BCD'
  },
  bcd32: {
    ...numberType('int32', 0, 99_999_999, () => fromBcd(bytes.getUint32(0), 8), value => bytes.setUint32(0, toBcd(Number(value)))),
    fault: () => 'bad BCD'
  }
}

/**
 * @param {NumberType['field']} field
 * @param {number|bigint} lowest
 * @param {number|bigint} highest
 * @param {NumberType['get']} get
 * @param {NumberType['set']} set
 * @returns {NumberType}
 */
function numberType (field, lowest, highest, get, set) {
  return { field, lowest, highest, get, set, fault: () => 'not a number' }
}

/**
 * @param {string} name  a key of NUMBERS
 * @param {{order: import('./bytes.js').Order, scale: number, offset: number}} options
 * @returns {Codec}
 */
export function numberCodec (name, { order, scale, offset }) {
  const type = NUMBERS[name]
  const { load, store } = mover(WORDS[name], order)
  const isScaled = scale !== 1 || offset !== 0
  const toCell = isScaled ? scaled(scale, offset) : cells[type.field] ?? (raw => raw)
  const toRaw = isScaled ? unscaled(type, scale, offset) : raws(type)
  return {
    field: isScaled ? 'float64' : type.field,
    count: WORDS[name],
    fault (registers, at) {
      load(registers, at)
      return type.fault()
    },
    read (registers, at) {
      load(registers, at)
      const raw = type.get()
      return raw === undefined ? undefined : toCell(raw)
    },
    encode (value) {
      const raw = toRaw(value)
      if (raw < type.lowest || raw > type.highest) throw refusal(`must be ${limits(type, isScaled ? scaled(scale, offset) : String)}`)
      type.set(raw)
      return store()
    }
  }
}

/** A raw value as its column holds it, by the column's type. @type {Record<string, (raw: number|bigint) => number|bigint|undefined>} */
const cells = {
  int64: raw => raw > MAX_INT64 ? undefined : BigInt(raw),
  float32: finite,
  float64: finite
}

/** @param {number|bigint} raw */
function finite (raw) {
  return Number.isFinite(raw) ? raw : undefined
}

/** @param {number} scale @param {number} offset @returns {(raw: number|bigint) => number|bigint|undefined} */
function scaled (scale, offset) {
  return raw => finite(Number(raw) * scale + offset)
}

/** @param {NumberType} type @param {number} scale @param {number} offset @returns {(value: unknown) => number|bigint} */
function unscaled (type, scale, offset) {
  return value => {
    const raw = (finiteNumber(value) - offset) / scale
    if (isFloat(type)) return raw
    if (!Number.isFinite(raw)) throw refusal('is out of range')
    return typeof type.highest === 'bigint' ? BigInt(Math.round(raw)) : Math.round(raw)
  }
}

/**
 * Integers may be a bigint, and those of 64 bits also digits.
 * @param {NumberType} type
 * @returns {(value: unknown) => number|bigint}
 */
function raws (type) {
  if (isFloat(type)) return finiteNumber
  return value => {
    if (typeof value === 'bigint') return value
    if (typeof type.highest === 'bigint' && typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value)
    const number = finiteNumber(value)
    if (!Number.isSafeInteger(number)) throw refusal('must be a whole number, beyond ±2^53 a BigInt or digits in a text')
    return number
  }
}

/** @param {unknown} value */
function finiteNumber (value) {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw refusal('must be a number')
}

/** @param {NumberType} type */
const isFloat = ({ field }) => field === 'float32' || field === 'float64'

/** @param {NumberType} type @param {(raw: number|bigint) => unknown} show */
function limits ({ lowest, highest }, show) {
  const [low, high] = [show(lowest), show(highest)]
  return Number(low) <= Number(high) ? `between ${low} and ${high}` : `between ${high} and ${low}`
}

/** Four bits a digit. @param {number} raw @param {number} digits */
function fromBcd (raw, digits) {
  let value = 0
  for (let shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    const digit = raw >>> shift & 0xF
    if (digit > 9) return undefined
    value = value * 10 + digit
  }
  return value
}

/** @param {number} value */
function toBcd (value) {
  return Number.parseInt(String(value), 16)
}

/** @param {string} problem */
function refusal (problem) {
  return new SluiceError('SLUICE_MODBUS_VALUE', problem)
}
