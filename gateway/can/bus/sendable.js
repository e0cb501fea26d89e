import { SluiceError } from '../../base/errors.js'

/** @typedef {import('../candump/line.js').Frame} Frame */

const MAX_CLASSIC_BYTES = 8
const DATA_LENGTHS = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64])

/**
 * Whether a frame can be sent: on any bus, and on this one.
 * @param {Frame} frame @param {boolean} fd  whether the bus may carry CAN FD @param {string} bus
 * @throws {SluiceError} SLUICE_CAN_SEND where it cannot
 */
export function refuseMisfit ({ id, extended, kind, fd: isFd, data }, fd, bus) {
  if (kind === 'error') throw misfit('An error frame cannot be sent.')
  if (!Number.isInteger(id) || id < 0 || id > (extended ? 0x1FFFFFFF : 0x7FF)) {
    throw misfit(`The identifier ${id} exceeds ${extended ? 29 : 11} bits.`)
  }
  if (!isFd && data.length > MAX_CLASSIC_BYTES) {
    throw misfit(`A frame of ${data.length} bytes is too long: without CAN FD it has at most 8.`)
  }
  if (!DATA_LENGTHS.has(data.length)) throw misfit(`No frame has ${data.length} bytes.`, 'CAN FD has 0 to 8, 12, 16, 20, 24, 32, 48 or 64.')
  if (isFd && kind === 'remote') throw misfit('CAN FD has no remote frames.')
  if (isFd && !fd) {
    throw misfit(`The bus ${bus} does not send CAN FD frames.`, 'Switch CAN FD on in the form of the bus, if all on it understand it.')
  }
}

/** @param {string} text @param {string} [fix] */
function misfit (text, fix) {
  return new SluiceError('SLUICE_CAN_SEND', text, { fix })
}
