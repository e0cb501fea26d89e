import { rawLimits } from './bits.js'
import { indicatorsOf } from '../j1939/indicators.js'
import { rawRange } from './signal-range.js'

/**
 * Which raw values of a signal stand for no value: those of its protocol, unless the file says that they are values.
 *
 * @typedef {import('./signal.js').SignalDefinition} SignalDefinition
 * @typedef {import('../j1939/indicators.js').Indicator} Indicator
 * @typedef {'missing'|'numbers'} Indicators  what errors and reserved values are read as
 */

/** From this length on, a signed value is taken to have one to spare even where the DBC's range includes it. */
const SPARING_BITS = 16
/** How a table names what is no value. */
const NO_VALUE = /error|fault|fail|invalid|reserved|out of range|specific|unknown|not? avail|n\/?a\b|not (?:used|defined)/i

/**
 * From the lowest on; the last is "not available" (all ones as SAE J1939-71 has it, the largest positive if signed as NMEA 2000 has it).
 * A name in the table of values decides, otherwise the range of the file; "not available" is never a value.
 * @param {SignalDefinition} definition
 * @param {import('./protocol.js').Protocol} protocol
 * @param {Indicators} indicators
 * @returns {Indicator[]}
 */
export function missingValues (definition, protocol, indicators) {
  if (protocol === null || !hasNotAvailable(definition)) return []
  const [, highest] = rawLimits(definition)
  const notAvailable = { first: highest, last: highest, reason: '' }
  if (indicators === 'numbers') return [notAvailable]
  const found = indicatorsOf(definition, protocol).flatMap(indicator => {
    const names = [...definition.choices].filter(([raw]) => raw >= indicator.first && raw <= indicator.last).map(([, name]) => name)
    if (names.length > 0) return names.every(name => NO_VALUE.test(name)) ? [indicator] : []
    const first = beyondRange(definition, indicator.first)
    return first <= indicator.last ? [{ ...indicator, first }] : []
  })
  return found.at(-1)?.last === highest ? found : [...found, notAvailable]
}

/**
 * The first raw value from there on that the file's range leaves out, if it has one.
 * @param {SignalDefinition} definition @param {bigint} first
 */
function beyondRange (definition, first) {
  if (definition.minimum === -Infinity) return first
  const { high } = rawRange(definition, undefined)
  return first > high ? first : high + 1n
}

/**
 * A single bit has no value to spare, nor has a short signed value, whose largest is an everyday one, unless the DBC's range leaves it
 * out; a float has NaN.
 * @param {SignalDefinition} definition
 */
function hasNotAvailable (definition) {
  const { length, signed, floatBits, factor, offset, minimum, maximum } = definition
  if (length < 2 || floatBits) return false
  const [, highest] = rawLimits(definition)
  const value = Number(highest) * factor + offset
  return !signed || length >= SPARING_BITS || value < minimum || value > maximum
}
