import { derive, fractionAt } from '../../base/random.js'
import { NUMBERS } from '../../modbus/numbers.js'
import { compileValue } from '../../modbus/values.js'
import { isBits } from '../../modbus/wire/pdu.js'

/**
 * @typedef {object} Row  of the table of registers
 * @property {import('../../modbus/wire/pdu.js').Area} area
 * @property {number} address
 * @property {string} unit
 * @property {string} type
 * @property {import('../../modbus/bytes.js').Order} order
 * @property {keyof typeof SHAPES} shape
 * @property {number} value
 * @property {number} amplitude
 * @property {number} periodS
 *
 * @typedef {{elapsedS: number, wallS: number}} Moment  seconds since the start, and since 1970
 *
 * @typedef {object} Signal  the value at one address
 * @property {import('../../modbus/wire/pdu.js').Area} area
 * @property {number} address
 * @property {number} count  registers, or bits
 * @property {(moment: Moment) => ArrayLike<number>} at
 */

/** How a value can change. */
export const SHAPES = {
  constant: 'Constant',
  counter: 'Counter',
  sine: 'Sine',
  random: 'Random',
  uptime: 'Seconds since the start',
  time: 'Seconds since 1970'
}

const BIT = { lowest: 0, highest: 1, field: 'bool' }

/** @type {Record<keyof typeof SHAPES, (row: Row, seed: number) => (moment: Moment) => number>} */
const shapes = {
  constant: ({ value }) => () => value,
  counter: ({ value, periodS }) => ({ elapsedS }) => value + Math.floor(elapsedS / periodS),
  sine: ({ value, amplitude, periodS }) => ({ elapsedS }) => value + amplitude * Math.sin(2 * Math.PI * elapsedS / periodS),
  random: ({ value, amplitude, periodS }, seed) => ({ elapsedS }) => {
    return value + amplitude * (2 * fractionAt(seed, Math.floor(elapsedS / periodS)) - 1)
  },
  uptime: () => ({ elapsedS }) => Math.floor(elapsedS),
  time: () => ({ wallS }) => Math.floor(wallS)
}

const BEGINS_AGAIN = new Set(['counter', 'uptime', 'time'])

/**
 * @param {Row} row
 * @param {number} seed  of its random values
 * @returns {Signal}
 */
export function signal (row, seed) {
  const { area, address, type, order, shape } = row
  const isBit = isBits(area)
  const codec = isBit ? null : compileValue({ type, order })
  const fit = fitter(isBit ? BIT : NUMBERS[type], BEGINS_AGAIN.has(shape))
  const move = shapes[shape](row, derive(seed, 0))
  return {
    area,
    address,
    count: codec?.count ?? 1,
    at: moment => {
      const value = fit(move(moment))
      return codec ? codec.encode(value) : [Number(value)]
    }
  }
}

/**
 * Into the range of a type.
 * @param {{lowest: number|bigint, highest: number|bigint, field: string}} type
 * @param {boolean} beginsAgain
 * @returns {(value: number) => number|bigint}
 */
function fitter ({ lowest, highest, field }, beginsAgain) {
  const clamp = (/** @type {number|bigint} */ value) => value < lowest ? lowest : value > highest ? highest : value
  if (field.startsWith('float')) return clamp
  if (typeof lowest === 'bigint' || typeof highest === 'bigint' || !beginsAgain) return value => clamp(Math.round(value))
  const span = highest - lowest + 1
  return value => {
    const above = (Math.round(value) - Number(lowest)) % span
    return Number(lowest) + (above < 0 ? above + span : above)
  }
}
