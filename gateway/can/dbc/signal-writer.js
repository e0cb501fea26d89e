import { SluiceError } from '../../base/errors.js'
import { rawLimits, rawWriter } from './bits.js'

/**
 * @typedef {import('./signal.js').SignalDefinition} SignalDefinition
 * @typedef {import('./signal.js').Value} Value
 * @typedef {(data: Uint8Array, value: unknown) => void} Write  writes a physical value (a number, bigint, boolean, the name of one of its
 *   values, or digits), to the nearest that the signal can have; undefined and null are "not available", or 0 where the signal has no such
 *   value. All other bits stay. Throws a SluiceError SLUICE_CAN_ENCODE.
 *
 * @typedef {object} Abilities  what else is known of the signal
 * @property {boolean} isExact  its values are whole numbers that a double cannot hold exactly
 * @property {Value} minimum
 * @property {Value} maximum
 * @property {import('./signal-range.js').RawRange|null} range  null for a float
 * @property {bigint} absent  the bits of "not available", or 0
 */

const FLOAT_TOLERANCE = 1e-6

/**
 * The inverse of a signal's `read`.
 * @param {SignalDefinition} definition
 * @param {Abilities} abilities
 * @returns {Write}
 */
export function compileWriter (definition, abilities) {
  const { choices, floatBits } = definition
  const { isExact, absent } = abilities
  const writeRaw = rawWriter(definition)
  const rawByText = new Map(Array.from(choices, ([raw, text]) => [text, raw]))
  const [lowest, highest] = rawLimits(definition)
  const refuse = refusalOf(definition, abilities)
  const converter = floatBits ? floatToRaw : isExact ? exactToRaw : numberToRaw
  const toRaw = converter(definition, abilities, refuse)

  return (data, value) => {
    if (value === undefined || value === null) return writeRaw(data, absent)
    const named = typeof value === 'string' ? rawByText.get(value) : undefined
    if (named !== undefined && (named < lowest || named > highest)) throw refuse(value)
    writeRaw(data, named ?? toRaw(typeof value === 'boolean' ? Number(value) : value))
  }
}

/** @typedef {(value: unknown) => SluiceError} Refuse */

/** @param {SignalDefinition} definition @param {Abilities} abilities @param {Refuse} refuse @returns {(value: unknown) => bigint} */
function floatToRaw ({ floatBits, factor, offset }, { minimum, maximum }, refuse) {
  const [low, high] = [Number(minimum), Number(maximum)]
  return value => {
    const number = toNumber(value, refuse)
    // NaN and the infinities are floats like others.
    if (!Number.isFinite(number)) return bitsOfFloat(number / factor, floatBits)
    if (number < low - slack(low) || number > high + slack(high)) throw refuse(value)
    return bitsOfFloat((Math.min(Math.max(number, low), high) - offset) / factor, floatBits)
  }
}

/** How far a float may be beyond a limit, which was a decimal number once. @param {number} limit */
function slack (limit) {
  return Math.abs(limit) * FLOAT_TOLERANCE
}

/** @param {SignalDefinition} definition @param {Abilities} abilities @param {Refuse} refuse @returns {(value: unknown) => bigint} */
function numberToRaw ({ factor, offset }, { range, minimum, maximum }, refuse) {
  const { low, high } = /** @type {import('./signal-range.js').RawRange} */ (range)
  return value => {
    const number = toNumber(value, refuse)
    const nearest = Math.round((number - offset) / factor)
    if (!Number.isFinite(nearest)) throw refuse(value)
    const raw = BigInt(nearest)
    if (raw >= low && raw <= high) return raw
    // Of 64 bits, a double may round the limit itself to the other side.
    if (number < minimum || number > maximum) throw refuse(value)
    return raw < low ? low : high
  }
}

/** @param {SignalDefinition} definition @param {Abilities} abilities @param {Refuse} refuse @returns {(value: unknown) => bigint} */
function exactToRaw (definition, { range }, refuse) {
  const { low, high } = /** @type {import('./signal-range.js').RawRange} */ (range)
  const [factor, offset] = [BigInt(definition.factor), BigInt(definition.offset)]
  return value => {
    const twice = 2n * (toBigInt(value, refuse) - offset)
    // To the nearest: the division of bigints drops the fraction.
    const raw = (twice + (twice < 0n === factor < 0n ? factor : -factor)) / (2n * factor)
    if (raw < low || raw > high) throw refuse(value)
    return raw
  }
}

/** @param {unknown} value @param {Refuse} refuse */
function toNumber (value, refuse) {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN
  if (Number.isNaN(number) && value !== 'NaN') throw refuse(value)
  return number
}

/** @param {unknown} value @param {Refuse} refuse */
function toBigInt (value, refuse) {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && /^\s*[-+]?\d+\s*$/.test(value)) return BigInt(value)
  const number = toNumber(value, refuse)
  if (!Number.isFinite(number)) throw refuse(value)
  return BigInt(Math.round(number))
}

/** @param {SignalDefinition} definition @param {Abilities} abilities @returns {Refuse} */
function refusalOf ({ name, unit, choices }, { minimum, maximum }) {
  const takes = `it takes ${minimum} to ${maximum}${unit && ` ${unit}`}${choices.size > 0 ? ' or the name of a value' : ''}`
  return value => {
    const shown = typeof value === 'object' || typeof value === 'function' ? `a value of type ${typeof value}` : String(value).slice(0, 100)
    return new SluiceError('SLUICE_CAN_ENCODE', `Signal ${name} cannot be ${shown}: ${takes}.`)
  }
}

const scratch = new DataView(new ArrayBuffer(8))

/** @param {number} float @param {number} bits  32 or 64 */
export function bitsOfFloat (float, bits) {
  if (bits === 32) scratch.setFloat32(4, float)
  else scratch.setFloat64(0, float)
  return BigInt.asUintN(bits, scratch.getBigUint64(0))
}
