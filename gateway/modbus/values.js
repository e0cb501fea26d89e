import { WORDS } from '../../resources/modbus-tags.js'
import { SluiceError } from '../base/errors.js'
import { bytes, mover, ORDERS } from './bytes.js'
import { NUMBERS, numberCodec } from './numbers.js'
import { TEXTS, textCodec } from './text.js'

/**
 * @typedef {import('./bytes.js').Order} Order
 * @typedef {number|bigint|string} Cell  as in a batch's column: a bool is 0 or 1
 *
 * @typedef {object} Codec  of one type, order and scale
 * @property {import('../batch/batch.js').FieldType} field  the type of its column
 * @property {number} count  registers or bits it occupies
 * @property {(registers: ArrayLike<number>, at: number) => Cell|undefined} read  the value that starts at `at`; undefined where it is bad
 * @property {(registers: ArrayLike<number>, at: number) => string} fault  why the value there is bad
 * @property {(value: unknown) => Uint16Array} encode  registers, or bits as 0 and 1. Throws SLUICE_MODBUS_VALUE
 *
 * @typedef {object} Description
 * @property {string} type
 * @property {Order} [order]
 * @property {number} [length]  bytes of a text
 * @property {number} [bit]  of a register, 0 being the least significant
 * @property {number} [scale]
 * @property {number} [offset]
 */

/** The types of tags, as their table offers them. */
export const TYPES = ['bool', 'bit', ...Object.keys(NUMBERS), 'uint64-string', ...Object.keys(TEXTS)]

/** Those that can have scale and offset. */
export const NUMBER_TYPES = Object.keys(NUMBERS)

/** Those that have a length. */
export const TEXT_TYPES = Object.keys(TEXTS)

/**
 * Compiles the reading and writing of a value. With a scale or offset it is a float64: `raw · scale + offset`.
 * @param {Description} description
 * @returns {Codec}
 */
export function compileValue ({ type, order = 'ABCD', length = 1, bit = 0, scale = 1, offset = 0 }) {
  if (type === 'bool') return boolCodec
  if (type === 'bit') return bitCodec(order, bit)
  if (type in TEXTS) return textCodec(type, length, order)
  if (type === 'uint64-string') return digitsCodec(order)
  return numberCodec(type, { order, scale, offset })
}

/**
 * What some registers may mean: for each type its value, from the first register on, in each order as text. Types that need more registers
 * are left out.
 * @param {ArrayLike<number>} registers
 * @returns {({type: string} & Record<Order, string>)[]}
 */
export function preview (registers) {
  const types = [...NUMBER_TYPES.filter(type => WORDS[type] <= registers.length), ...TEXT_TYPES]
  return types.map(type => {
    const texts = ORDERS.map(order => {
      const { read, fault } = compileValue({ type, order, length: 2 * registers.length })
      return [order, String(read(registers, 0) ?? fault(registers, 0))]
    })
    return /** @type {any} */ ({ type, ...Object.fromEntries(texts) })
  })
}

/** @type {Codec} */
const boolCodec = {
  field: 'bool',
  count: 1,
  fault: () => '',
  read: (bits, at) => bits[at],
  encode: value => Uint16Array.of(truth(value))
}

/**
 * A bit of the 16-bit value in its order; it cannot be written, since the other bits would be too.
 * @param {Order} order
 * @param {number} bit
 * @returns {Codec}
 */
function bitCodec (order, bit) {
  const { read } = numberCodec('uint16', { order, scale: 1, offset: 0 })
  return {
    field: 'bool',
    count: 1,
    fault: () => '',
    read: (registers, at) => Number(read(registers, at)) >>> bit & 1,
    encode () { throw new SluiceError('SLUICE_MODBUS_VALUE', 'a bit of a register cannot be written by itself') }
  }
}

/** All 64 unsigned bits, of which a column of integers has 63: their digits as text. @param {Order} order @returns {Codec} */
function digitsCodec (order) {
  const { encode } = numberCodec('uint64', { order, scale: 1, offset: 0 })
  const { load } = mover(WORDS['uint64-string'], order)
  return {
    field: 'string',
    count: WORDS['uint64-string'],
    fault: () => '',
    read (registers, at) {
      load(registers, at)
      return String(bytes.getBigUint64(0))
    },
    encode
  }
}

/** @param {unknown} value */
function truth (value) {
  if (value === true || value === 1) return 1
  if (value === false || value === 0) return 0
  throw new SluiceError('SLUICE_MODBUS_VALUE', 'must be true or false')
}
