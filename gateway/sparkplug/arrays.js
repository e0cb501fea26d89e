import { MAX_FIELDS } from '../messages/bounds.js'

/**
 * The array types of Sparkplug 3.0 (chapter 6.4): packed little-endian in `bytes_value`; booleans as a 32-bit count and then bits, the
 * first the highest; strings each followed by a zero byte.
 *
 * @typedef {(bytes: Uint8Array) => unknown[]|null|undefined} ReadArray  null where it has too many elements; undefined where the bytes are
 *   not such an array
 */

/** Fields of a batch besides the quality. */
export const MAX_ELEMENTS = MAX_FIELDS - 1

/** @param {number} size  bytes of an element @param {(view: DataView, at: number) => unknown} read @returns {ReadArray} */
function packed (size, read) {
  return bytes => {
    if (bytes.length % size !== 0) return undefined
    if (bytes.length / size > MAX_ELEMENTS) return null
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return Array.from({ length: bytes.length / size }, (_, i) => read(view, i * size))
  }
}

export const int8s = packed(1, (view, at) => view.getInt8(at))
export const int16s = packed(2, (view, at) => view.getInt16(at, true))
export const int32s = packed(4, (view, at) => view.getInt32(at, true))
export const int64s = packed(8, (view, at) => view.getBigInt64(at, true))
export const uint8s = packed(1, (view, at) => view.getUint8(at))
export const uint16s = packed(2, (view, at) => view.getUint16(at, true))
export const uint32s = packed(4, (view, at) => view.getUint32(at, true))
export const uint64s = packed(8, (view, at) => view.getBigUint64(at, true))
export const floats = packed(4, (view, at) => view.getFloat32(at, true))
export const doubles = packed(8, (view, at) => view.getFloat64(at, true))

/** @type {ReadArray} */
export function booleans (bytes) {
  if (bytes.length < 4) return undefined
  const count = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  if (bytes.length !== 4 + Math.ceil(count / 8)) return undefined
  if (count > MAX_ELEMENTS) return null
  return Array.from({ length: count }, (_, i) => (bytes[4 + (i >> 3)] & 0x80 >> (i & 7)) !== 0)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @type {ReadArray} */
export function strings (bytes) {
  if (bytes.length > 0 && bytes.at(-1) !== 0) return undefined
  try {
    const texts = utf8.decode(bytes).split('\0', MAX_ELEMENTS + 2)
    return texts.length > MAX_ELEMENTS + 1 ? null : texts.slice(0, -1)
  } catch {
    return undefined
  }
}
