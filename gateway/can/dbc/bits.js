/**
 * Where a signal's bits are in a frame's data, and raw values read from there and written there.
 *
 * @typedef {object} Bits
 * @property {number} start  bit number as the DBC writes it: of the least significant bit (Intel), of the most significant (Motorola)
 * @property {number} length  bits
 * @property {boolean} littleEndian
 *
 * @typedef {number|bigint} Raw  the bits as an unsigned number: a bigint where they span more than six bytes
 */

const MAX_BYTES_OF_INT = 4
const MAX_BYTES_OF_NUMBER = 6

/**
 * The data must be long enough.
 * @param {Bits} bits
 * @returns {(data: Uint8Array) => Raw}
 */
export function rawReader (bits) {
  const { length } = bits
  const { top, step, count, shift } = layout(bits)
  if (count <= MAX_BYTES_OF_INT) {
    const mask = length === 32 ? -1 : (1 << length) - 1
    return data => {
      let raw = 0
      for (let n = 0, at = top; n < count; n++, at += step) raw = raw << 8 | data[at]
      return (raw >>> shift & mask) >>> 0
    }
  }
  if (count <= MAX_BYTES_OF_NUMBER) {
    const below = 2 ** shift
    const size = 2 ** length
    return data => {
      let raw = 0
      for (let n = 0, at = top; n < count; n++, at += step) raw = raw * 256 + data[at]
      return Math.floor(raw / below) % size
    }
  }
  return data => {
    let raw = 0n
    for (let n = 0, at = top; n < count; n++, at += step) raw = raw << 8n | BigInt(data[at])
    return BigInt.asUintN(length, raw >> BigInt(shift))
  }
}

/**
 * Writes the low bits of a whole number, negative ones in two's complement, and leaves all other bits. The data must be long enough.
 * @param {Bits} bits
 * @returns {(data: Uint8Array, raw: bigint) => void}
 */
export function rawWriter (bits) {
  const { top, step, count, shift } = layout(bits)
  const bottom = top + step * (count - 1)
  const mask = (1n << BigInt(bits.length)) - 1n << BigInt(shift)
  const masks = Array.from({ length: count }, (_, n) => Number(mask >> BigInt(8 * n) & 0xFFn))
  return (data, raw) => {
    let rest = raw << BigInt(shift)
    for (let n = 0, at = bottom; n < count; n++, at -= step, rest >>= 8n) {
      data[at] = (data[at] & ~masks[n]) | (Number(rest & 0xFFn) & masks[n])
    }
  }
}

/** A whole number as `rawReader` gives it. @param {Bits} bits @param {bigint} value @returns {Raw} */
export function rawOf (bits, value) {
  const raw = BigInt.asUintN(bits.length, value)
  return layout(bits).count <= MAX_BYTES_OF_NUMBER ? Number(raw) : raw
}

/** @param {Bits} bits */
export function bytesNeeded (bits) {
  const { top, step, count } = layout(bits)
  return Math.max(top, top + step * (count - 1)) + 1
}

/** The least and the greatest whole number. @param {{length: number, signed: boolean}} bits @returns {[bigint, bigint]} */
export function rawLimits ({ length, signed }) {
  const magnitude = 1n << BigInt(signed ? length - 1 : length)
  return [signed ? -magnitude : 0n, magnitude - 1n]
}

/**
 * Where the bits are: bytes from the most significant (`top`, then by `step`), and how many bits below the signal to drop.
 * @param {Bits} bits
 */
function layout ({ start, length, littleEndian }) {
  if (littleEndian) {
    const bottom = start >> 3
    const top = (start + length - 1) >> 3
    return { top, step: -1, count: top - bottom + 1, shift: start & 7 }
  }
  // Motorola: counted from the most significant bit of byte 0, the bits of a signal are in sequence.
  const first = (start & ~7) + 7 - (start & 7)
  const last = first + length - 1
  const top = first >> 3
  return { top, step: 1, count: (last >> 3) - top + 1, shift: 7 - (last & 7) }
}
