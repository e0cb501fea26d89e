/**
 * The parts of a 29-bit identifier as SAE J1939 and NMEA 2000 use it: priority, parameter group number, source address.
 */

const PDU2_FIRST_FORMAT = 240

/** The longest message of the transport protocol: 255 packets of 7 bytes (SAE J1939-21). */
export const MAX_GROUP_BYTES = 255 * 7

/** The parameter group number. Below PDU format 240 the next byte is a destination, which is not part of it. @param {number} id */
export function pgnOf (id) {
  const group = (id >>> 8) & 0x3FFFF
  return isAddressed(id) ? group & 0x3FF00 : group
}

/** @param {number} id */
export function sourceAddressOf (id) {
  return id & 0xFF
}

/** The address a PDU1 message is for. @param {number} id */
export function destinationOf (id) {
  return id >>> 8 & 0xFF
}

/** Whether the message is for an address (PDU1) rather than for all. @param {number} id */
export function isAddressed (id) {
  return (id >>> 16 & 0xFF) < PDU2_FIRST_FORMAT
}

/**
 * The identifier with other addresses.
 * @param {number} id @param {{sourceAddress?: number, destination?: number}} addresses  0 to 255; a destination only of a PDU1 message
 */
export function addressedTo (id, { sourceAddress = sourceAddressOf(id), destination }) {
  const from = (id & ~0xFF | sourceAddress) >>> 0
  return destination === undefined ? from : (from & ~0xFF00 | destination << 8) >>> 0
}
