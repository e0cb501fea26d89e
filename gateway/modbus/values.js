import { SluiceError } from '../base/errors.js'
import { ORDERS } from './bytes.js'
import { NUMBERS, numberCodec } from './numbers.js'
import { textCodec } from './text.js'

/**
 * @typedef {import('./bytes.js').Order} Order
 * @typedef {number|bigint|string} Cell  as in a batch's column: a bool is 0 or 1
 *
 * @typedef {object} Codec  of one type, order and scale
 * @property {import('../batch/batch.js').FieldType} field  the type of its column
 * @property {number} count  registers or bits it occupies
 * @property {(registers: ArrayLike<number>, at: number) => Cell|undefined} read  the value that starts at `at`; undefined where it is bad
 * @property {string} fault  how a value can be bad
 * @property {(value: unknown) => Uint16Array} encode  registers, or bits as 0 and 1. Throws SLUICE_MODBUS_VALUE
 *
 * @typedef {object} Description
 * @property {string} type
 * @property {Order} [order]
 * @property {number} [length]  characters of a string
 * @property {number} [bit]  of a register, 0 being the least significant
 * @property {number} [scale]
 * @property {number} [offset]
 */

/** The types of tags, as their table offers them. */
export const TYPES = ['bool', 'bit', ...Object.keys(NUMBERS), 'string']

/** Those that can have scale and offset. */
export const NUMBER_TYPES = Object.keys(NUMBERS)

/**
 * Compiles the reading and writing of a value. With a scale or offset it is a float64: `raw · scale + offset`.
 * @param {Description} description
 * @returns {Codec}
 */
export function compileValue ({ type, order = 'ABCD', length = 1, bit = 0, scale = 1, offset = 0 }) {
  if (type === 'bool') return boolCodec
  if (type === 'bit') return bitCodec(order, bit)
  if (type === 'string') return textCodec(length, order)
  return numberCodec(type, { order, scale, offset })
}

/**
 * What some registers may mean: for each type its value, from the first register on, in each order as text. Types that need more registers
 * are left out.
 * @param {ArrayLike<number>} registers
 * @returns {({type: string} & Record<Order, string>)[]}
 */
export function preview (registers) {
  const types = [...NUMBER_TYPES, 'string'].filter(type => type === 'string' || NUMBERS[type].words <= registers.length)
  return types.map(type => {
    const texts = ORDERS.map(order => {
      const { read, fault } = compileValue({ type, order, length: 2 * registers.length })
      return [order, String(read(registers, 0) ?? fault)]
    })
    return /** @type {any} */ ({ type, ...Object.fromEntries(texts) })
  })
}

/** @type {Codec} */
const boolCodec = {
  field: 'bool',
  count: 1,
  fault: '',
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
    fault: '',
    read: (registers, at) => Number(read(registers, at)) >>> bit & 1,
    encode () { throw new SluiceError('SLUICE_MODBUS_VALUE', 'a bit of a register cannot be written by itself') }
  }
}

/** @param {unknown} value */
function truth (value) {
  if (value === true || value === 1) return 1
  if (value === false || value === 0) return 0
  throw new SluiceError('SLUICE_MODBUS_VALUE', 'must be true or false')
}
