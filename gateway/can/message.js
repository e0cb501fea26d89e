import { isParameterGroup } from './j1939.js'
import { bytesNeeded, compileSignal, rawReader } from './signal.js'

/**
 * @typedef {import('./signal.js').Signal} Signal
 * @typedef {import('./signal.js').SignalDefinition} SignalDefinition
 *
 * @typedef {object} Place  where in the DBC file
 * @property {number} line
 * @property {string} text
 *
 * @typedef {object} Multiplexing
 * @property {boolean} isSwitch  `M`: its value selects other signals
 * @property {string|null} parent  the switch that selects this signal; null: the message's only one
 * @property {[number, number][]} selectors  inclusive ranges of the switch's value; none: always there
 *
 * @typedef {SignalDefinition & Multiplexing & Place} ParsedSignal
 * @typedef {{id: number, extended: boolean, name: string, length: number, frameFormat: string, signals: Map<string, ParsedSignal>} & Place} ParsedMessage
 *
 * @typedef {object} Message
 * @property {number} id  11 or 29 bits, without flags
 * @property {boolean} extended
 * @property {string} name
 * @property {boolean} isParameterGroup  J1939 or NMEA 2000: matched by parameter group number
 * @property {Signal[]} signals
 * @property {number} bytes  fewest data bytes that hold one signal; 0 without signals
 */

/**
 * @param {ParsedMessage} parsed
 * @param {(place: Place, reason: string) => void} warn
 * @returns {Message}
 */
export function compileMessage (parsed, warn) {
  const { id, extended, name } = parsed
  const parameterGroup = extended && isParameterGroup(parsed.frameFormat)
  const signals = []
  const names = new Set()
  for (const signal of parsed.signals.values()) {
    const fault = names.has(signal.name) ? `the full name ${signal.name} is taken` : faultOf(signal, parsed)
    if (fault) {
      warn(signal, fault)
      continue
    }
    if (bytesNeeded(signal) > parsed.length) warn(signal, `reaches beyond the ${parsed.length} bytes of ${name}; read from longer frames only`)
    const isSelected = selection(signal, parsed)
    names.add(signal.name)
    // A switch says what the frame holds: it is always available.
    signals.push(compileSignal(signal, { marksMissing: parameterGroup && !signal.isSwitch, isSelected }))
  }
  const bytes = signals.length === 0 ? 0 : Math.min(...signals.map(signal => signal.bytes))
  return { id, extended, name, isParameterGroup: parameterGroup, signals, bytes }
}

/** Why a signal cannot be read, if so. @param {ParsedSignal} signal @param {ParsedMessage} message */
function faultOf (signal, message) {
  if (signal.floatBits !== 0 && signal.floatBits !== signal.length) return `${signal.floatBits}-bit float of ${signal.length} bits`
  const seen = new Set([signal])
  for (let at = signal; at.selectors.length > 0;) {
    const parent = parentOf(at, message)
    if (!parent) return `no multiplexor ${at.parent ?? ''} in ${message.name} selects it`.replace('  ', ' ')
    if (seen.has(parent)) return 'multiplexors that select each other'
    seen.add(parent)
    at = parent
  }
}

/** @param {ParsedSignal} signal @param {ParsedMessage} message @returns {ParsedSignal|undefined} */
function parentOf (signal, { signals }) {
  if (signal.parent !== null) return signals.get(signal.parent)
  const switches = [...signals.values()].filter(({ isSwitch }) => isSwitch)
  return switches.find(({ selectors }) => selectors.length === 0) ?? switches.find(other => other !== signal)
}

/**
 * Whether a frame carries a multiplexed signal; undefined for one that is always there.
 * @param {ParsedSignal} signal @param {ParsedMessage} message
 * @returns {((data: Uint8Array) => boolean)|undefined}
 */
function selection (signal, message) {
  if (signal.selectors.length === 0) return undefined
  const parent = /** @type {ParsedSignal} */ (parentOf(signal, message))
  const isParentSelected = selection(parent, message)
  const readSwitch = rawReader(parent)
  const bytes = bytesNeeded(parent)
  return data => {
    if (data.length < bytes || (isParentSelected && !isParentSelected(data))) return false
    const value = readSwitch(data)
    return signal.selectors.some(([first, last]) => first <= value && value <= last)
  }
}
