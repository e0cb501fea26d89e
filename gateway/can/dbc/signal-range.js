import { rawLimits } from './bits.js'

/**
 * The values that a signal may have.
 *
 * @typedef {import('./signal.js').SignalDefinition} SignalDefinition
 * @typedef {{low: bigint, high: bigint}} RawRange  signed as the signal is; both ends included
 */

const MAX_FLOAT32 = 2 ** 128 - 2 ** 104

/** How far a limit may be from a value that the signal can have, in steps of the signal: both were decimal numbers once. */
const TOLERANCE = 1e-6

/**
 * The raw values of whole numbers that a signal may have: what its bits hold, without those that mean that there is none, in the range of
 * the DBC. A range that leaves no value is ignored.
 * @param {SignalDefinition} definition
 * @param {bigint|undefined} firstMissing  the lowest of those
 * @returns {RawRange}
 */
export function rawRange (definition, firstMissing) {
  const { factor, offset, minimum, maximum } = definition
  const [low, highest] = rawLimits(definition)
  const high = firstMissing === undefined ? highest : firstMissing - 1n
  const [first, last] = [minimum, maximum].map(limit => (limit - offset) / factor).sort((a, b) => a - b)
  const narrowed = { low: larger(low, Math.ceil(first - TOLERANCE)), high: smaller(high, Math.floor(last + TOLERANCE)) }
  return narrowed.low <= narrowed.high ? narrowed : { low, high }
}

/**
 * The values that a float may have.
 * @param {SignalDefinition} definition
 * @returns {{low: number, high: number}}
 */
export function floatRange ({ floatBits, factor, offset, minimum, maximum }) {
  const largest = floatBits === 32 ? MAX_FLOAT32 : Number.MAX_VALUE
  const physical = (/** @type {number} */ float) => Math.max(-Number.MAX_VALUE, Math.min(float * factor + offset, Number.MAX_VALUE))
  const limits = [-largest, largest].map(physical).sort((a, b) => a - b)
  return { low: Math.max(limits[0], minimum), high: Math.min(limits[1], maximum) }
}

/** @param {bigint} low @param {number} limit  perhaps infinite, or not a number where the factor is 0 */
function larger (low, limit) {
  return limit > low && limit !== Infinity ? BigInt(limit) : low
}

/** @param {bigint} high @param {number} limit */
function smaller (high, limit) {
  return limit < high && limit !== -Infinity ? BigInt(limit) : high
}
