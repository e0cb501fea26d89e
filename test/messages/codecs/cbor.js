/**
 * A value in CBOR: numbers that are whole, floats, BigInts of 64 bits, texts, bytes, true, false, null, arrays and Maps.
 * @param {unknown} value @returns {Buffer}
 */
export function cbor (value) {
  if (value === null) return Buffer.from([0xf6])
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4])
  if (typeof value === 'bigint' || Number.isInteger(value)) {
    const whole = BigInt(/** @type {number} */ (value))
    return whole < 0n ? head(1, -1n - whole) : head(0, whole)
  }
  if (typeof value === 'number') {
    const bytes = Buffer.from([0xfb, ...new Uint8Array(8)])
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  const map = /** @type {Map<unknown, unknown>} */ (value)
  return Buffer.concat([head(5, map.size), ...Array.from(map, pair => Buffer.concat(pair.map(cbor)))])
}

/** @param {number} major @param {bigint|number} count */
function head (major, count) {
  if (count < 24) return Buffer.from([major << 5 | Number(count)])
  const bytes = Buffer.from([major << 5 | 27, ...new Uint8Array(8)])
  bytes.writeBigUInt64BE(BigInt(count), 1)
  return bytes
}
