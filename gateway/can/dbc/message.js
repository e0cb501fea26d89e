import { bytesNeeded } from './bits.js'
import { isFastGroup } from '../j1939/groups.js'
import { pgnOf } from '../j1939/identifier.js'
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
 * @property {[number, number][]} selectors  inclusive ranges of the switch's value; none: always there; NaN where the file does not say
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
 * @property {boolean} isFastPacket  comes in the fast packets of NMEA 2000
 * @property {number} length  data bytes, by the DBC
 * @property {MessageSignal[]} signals
 * @property {number} bytes  fewest data bytes that hold one signal; 0 without signals
 *
 * @typedef {Signal & import('./multiplexing.js').Membership} MessageSignal
 */

const MAX_FRAME_BYTES = 8
/** The signals of each packet, in a file for tools that do not put them together: of the message, they say nothing. */
const PIECE = /^fast_?packet/i

/**
 * @param {ParsedMessage} parsed
 * @param {object} options
 * @param {import('./protocol.js').Protocol} options.protocol
 * @param {import('./missing.js').Indicators} options.indicators
 * @param {(place: Place, reason: string) => void} options.warn
 * @returns {Message}
 */
export function compileMessage (parsed, { protocol, indicators, warn }) {
  const { id, extended, name, length } = parsed
  const pgn = pgnOf(id)
  const isParameterGroup = protocol !== null
  const isFastPacket = isParameterGroup && (length > MAX_FRAME_BYTES || (protocol === 'NMEA 2000' && isFastGroup(pgn)))
  if (isFastPacket && [...parsed.signals.keys()].some(signal => PIECE.test(signal))) {
    return { id, extended, name, isParameterGroup, isFastPacket, length, signals: [], bytes: 0 }
  }
  const multiplexing = new Multiplexing(parsed)
  const signals = []
  const names = new Set()
  for (const signal of parsed.signals.values()) {
    const fault = names.has(signal.name) ? `the full name ${signal.name} is taken` : widthFault(signal) ?? multiplexing.faultOf(signal)
    if (fault) {
      warn(signal, fault)
      continue
    }
    if (bytesNeeded(signal) > length) {
      warn(signal, `reaches beyond the ${length} bytes of ${name}; read from longer frames only`)
    }
    const membership = multiplexing.membershipOf(signal)
    names.add(signal.name)
    // A switch tells what the frame holds: it is always available.
    const compiled = compileSignal(signal, { protocol: signal.isSwitch ? null : protocol, indicators, isSelected: membership.isSelected })
    signals.push({ ...compiled, ...membership })
  }
  const bytes = signals.reduce((fewest, signal) => Math.min(fewest, signal.bytes), signals[0]?.bytes ?? 0)
  return { id, extended, name, isParameterGroup, isFastPacket, length, signals, bytes }
}

/** @param {ParsedSignal} signal */
function widthFault ({ floatBits, length }) {
  return floatBits !== 0 && floatBits !== length ? `${floatBits}-bit float of ${length} bits` : undefined
}
