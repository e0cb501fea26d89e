import { bytesNeeded } from './bits.js'
import { isParameterGroup } from '../j1939/identifier.js'
import { Multiplexing } from './multiplexing.js'
import { compileSignal } from './signal.js'

/**
 * A message of a DBC file: as it is parsed, and compiled so that its signals can be read and written.
 *
 * @typedef {import('./signal.js').Signal} Signal
 * @typedef {import('./signal.js').SignalDefinition} SignalDefinition
 *
 * @typedef {object} Place  where in the DBC file
 * @property {number} line
 * @property {string} text
 *
 * @typedef {object} Selectors
 * @property {boolean} isSwitch  `M`: its value selects other signals
 * @property {string|null} parent  the switch that selects this signal; null: the message's only one
 * @property {[number, number][]} selectors  inclusive ranges of the switch's value; none: always there
 *
 * @typedef {SignalDefinition & Selectors & Place} ParsedSignal
 * @typedef {{id: number, extended: boolean, name: string, length: number, frameFormat: string, signals: Map<string, ParsedSignal>} & Place}
 *   ParsedMessage
 *
 * @typedef {object} Message
 * @property {number} id  11 or 29 bits, without flags
 * @property {boolean} extended
 * @property {string} name
 * @property {boolean} isParameterGroup  J1939 or NMEA 2000: matched by parameter group number
 * @property {number} length  data bytes, by the DBC
 * @property {MessageSignal[]} signals
 * @property {number} bytes  fewest data bytes that hold one signal; 0 without signals
 *
 * @typedef {Signal & import('./multiplexing.js').Membership} MessageSignal
 */

/**
 * @param {ParsedMessage} parsed
 * @param {(place: Place, reason: string) => void} warn
 * @returns {Message}
 */
export function compileMessage (parsed, warn) {
  const { id, extended, name } = parsed
  const parameterGroup = extended && isParameterGroup(parsed.frameFormat)
  const multiplexing = new Multiplexing(parsed)
  const signals = []
  const names = new Set()
  for (const signal of parsed.signals.values()) {
    const fault = names.has(signal.name) ? `the full name ${signal.name} is taken` : widthFault(signal) ?? multiplexing.faultOf(signal)
    if (fault) {
      warn(signal, fault)
      continue
    }
    if (bytesNeeded(signal) > parsed.length) {
      warn(signal, `reaches beyond the ${parsed.length} bytes of ${name}; read from longer frames only`)
    }
    const membership = multiplexing.membershipOf(signal)
    names.add(signal.name)
    // A switch tells what the frame holds: it is always available.
    const compiled = compileSignal(signal, { marksMissing: parameterGroup && !signal.isSwitch, isSelected: membership.isSelected })
    signals.push({ ...compiled, ...membership })
  }
  const bytes = signals.reduce((fewest, signal) => Math.min(fewest, signal.bytes), signals[0]?.bytes ?? 0)
  return { id, extended, name, isParameterGroup: parameterGroup, length: parsed.length, signals, bytes }
}

/** @param {ParsedSignal} signal */
function widthFault ({ floatBits, length }) {
  return floatBits !== 0 && floatBits !== length ? `${floatBits}-bit float of ${length} bits` : undefined
}
