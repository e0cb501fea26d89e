/**
 * The parts of a 29-bit identifier as SAE J1939 and NMEA 2000 use it: priority, parameter group number, source address.
 */

const PDU2_FIRST_FORMAT = 240

/** The parameter group number. Below PDU format 240 the next byte is a destination, which is not part of it. @param {number} id */
export function pgnOf (id) {
  const group = (id >>> 8) & 0x3FFFF
  const format = (group >>> 8) & 0xFF
  return format < PDU2_FIRST_FORMAT ? group & 0x3FF00 : group
}

/** @param {number} id */
export function sourceAddressOf (id) {
  return id & 0xFF
}

/**
 * Whether a DBC's frame format or protocol names a parameter group protocol.
 * @param {string} text  the value of VFrameFormat or ProtocolType, e.g. "J1939PG", "NMEA2000"
 */
export function isParameterGroup (text) {
  return /J1939|NMEA|N2K|ISO_?BUS|11783/i.test(text)
}
