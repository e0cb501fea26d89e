import { rawLimits } from '../dbc/bits.js'

/**
 * Raw values that say why there is no value. SAE J1939-71 has them by the top byte: FB is specific to the parameter, FC and FD are
 * reserved, FE is an error, FF is "not available"; of two bits 2 is an error. NMEA 2000 has the highest values: "not available",
 * then out of range (from 4 bits on), then reserved (from 8 bits on).
 *
 * @typedef {import('../dbc/signal.js').SignalDefinition} SignalDefinition
 * @typedef {{first: bigint, last: bigint, reason: string}} Indicator  raw values, signed as the signal is; `reason`: '' for "not available"
 */

const NOT_AVAILABLE = ''
/** @type {[first: bigint, last: bigint, reason: string][]} */
const TOP_BYTES = [[0xFBn, 0xFBn, 'parameter specific'], [0xFCn, 0xFDn, 'reserved'], [0xFEn, 0xFEn, 'error'], [0xFFn, 0xFFn, NOT_AVAILABLE]]
const WHOLE_BYTES = new Set([8, 16, 24, 32])

/**
 * Those of a signal that has a value for "not available", from the lowest on.
 * @param {SignalDefinition} definition
 * @param {'J1939'|'NMEA 2000'} protocol
 * @returns {Indicator[]}
 */
export function indicatorsOf (definition, protocol) {
  const { length, signed } = definition
  const [, highest] = rawLimits(definition)
  const one = (/** @type {bigint} */ raw, /** @type {string} */ reason) => ({ first: raw, last: raw, reason })
  const notAvailable = one(highest, NOT_AVAILABLE)
  if (protocol === 'NMEA 2000') {
    const outOfRange = length >= 4 ? [one(highest - 1n, 'out of range')] : []
    const reserved = length >= 8 ? [one(highest - 2n, 'reserved')] : []
    return [...reserved, ...outOfRange, notAvailable]
  }
  if (signed) return [notAvailable]
  if (length === 2) return [one(2n, 'error'), notAvailable]
  if (!WHOLE_BYTES.has(length)) return [notAvailable]
  const below = BigInt(length - 8)
  return TOP_BYTES.map(([first, last, reason]) => ({ first: first << below, last: (last + 1n << below) - 1n, reason }))
}
