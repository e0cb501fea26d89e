/** @typedef {import('../reader.js').Sample} Sample */

/** A whole number as readers return it: a number where that is exact, else a BigInt. @param {bigint} value */
export function whole (value) {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** What a cell holds as bytes, undefined of any other. @param {any} cell @returns {Buffer|undefined} */
export function bytesOf (cell) {
  const bytes = cell instanceof Uint8Array ? cell : cell?.bytes
  return bytes instanceof Uint8Array ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : undefined
}

/** Bytes as readers return them, in base64. @param {Uint8Array} value */
export function bytesText (value) {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
}
