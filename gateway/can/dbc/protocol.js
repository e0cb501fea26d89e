import { pgnOf, sourceAddressOf } from '../j1939/identifier.js'
import { isOnlyJ1939, isOnlyNmea } from '../j1939/groups.js'

/**
 * Which messages of a DBC file are parameter groups of J1939 or NMEA 2000: those whose frame format says so, or all with 29-bit
 * identifiers where the user knows that the file forgot to.
 *
 * @typedef {import('./message.js').ParsedMessage} ParsedMessage
 * @typedef {'J1939'|'NMEA 2000'|null} Protocol
 * @typedef {'file'|'groups'} Matching  what to go by
 */

/** The null address, which tools write for "whatever address". */
const NO_ADDRESS = 0xFE
const MAX_FRAME_BYTES = 64
const UNDECLARED = 'It looks like a file for J1939 or NMEA 2000, but neither VFrameFormat nor ProtocolType says so: unless its messages ' +
  'are matched by parameter group, frames of other priorities and source addresses are unknown'

/**
 * @param {ParsedMessage[]} messages
 * @param {Matching} matching
 * @returns {(message: ParsedMessage) => Protocol}
 */
export function protocolsOf (messages, matching) {
  const isGroup = (/** @type {ParsedMessage} */ { extended, frameFormat }) => {
    return extended && (matching === 'groups' || /J1939|NMEA|N2K|ISO_?BUS|11783/i.test(frameFormat))
  }
  const isNmea = messages.some(message => isGroup(message) && (/NMEA|N2K/i.test(message.frameFormat) || isOnlyNmea(pgnOf(message.id))))
  return message => {
    if (!isGroup(message)) return null
    return isNmea && !isOnlyJ1939(pgnOf(message.id)) ? 'NMEA 2000' : 'J1939'
  }
}

/**
 * What the user should know of the file as a whole, if anything.
 * @param {ParsedMessage[]} parsed
 * @param {import('./message.js').Message[]} messages  the same, compiled
 */
export function hintOf (parsed, messages) {
  if (!messages.some(({ isParameterGroup }) => isParameterGroup)) {
    return looksLikeGroups(parsed) ? UNDECLARED : ''
  }
  const ofPackets = messages.filter(({ isFastPacket, signals }, m) => isFastPacket && signals.length === 0 && parsed[m].signals.size > 0)
  if (ofPackets.length === 0) return ''
  return `${ofPackets.length} messages are left out, such as ${ofPackets[0].name}: the file describes their packets, not the messages`
}

/** Whether half of the 29-bit identifiers look as in a file of such a protocol. @param {ParsedMessage[]} messages */
function looksLikeGroups (messages) {
  const extended = messages.filter(message => message.extended)
  const marked = extended.filter(({ id, name, length }) => {
    return sourceAddressOf(id) === NO_ADDRESS || /PGN|J1939|NMEA|N2K/i.test(name) || length > MAX_FRAME_BYTES
  })
  return marked.length > 0 && marked.length * 2 >= extended.length
}
