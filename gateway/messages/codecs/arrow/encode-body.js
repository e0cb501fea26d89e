import { arrowError } from './format.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 *
 * What is in the body of a message: rows, and how many values each column misses.
 * @typedef {{rows: number, missing: number[], buffers: Uint8Array[]}} Body
 */

export const MAX_BYTES = 2 ** 31 - 1
const NO_BYTES = new Uint8Array(0)

/** The time and fields of a batch. @param {Batch} batch @returns {Body} */
export function bodyOf ({ rows, time, fields, columns, validity }) {
  const buffers = [NO_BYTES, bytesOf(time)]
  const missing = [0]
  fields.forEach(({ type }, f) => {
    const valid = validity[f]
    const lacking = valid ? valid.reduce((count, there) => count + (there ? 0 : 1), 0) : 0
    missing.push(lacking)
    buffers.push(valid && lacking ? packBits(valid) : NO_BYTES)
    if (type === 'string') pushText(buffers, /** @type {string[]} */ (columns[f]), rows, valid)
    else if (type === 'bytes') pushBytes(buffers, /** @type {Uint8Array[]} */ (columns[f]), rows, valid)
    else if (type === 'bool') buffers.push(packBits(/** @type {Uint8Array} */ (columns[f])))
    else buffers.push(bytesOf(/** @type {Float64Array} */ (columns[f])))
  })
  return { rows, buffers, missing }
}

/**
 * The body of a tag's dictionary; its indices are added to the rows' body.
 * @param {Body} body @param {import('../../../batch/tags.js').TagColumn} column
 * @returns {Body}
 */
export function pushDictionary ({ rows, missing, buffers }, { values, valid }) {
  const indices = new Int32Array(rows)
  /** @type {Map<string, number>} */
  const places = new Map()
  let last = ''
  let place = -1
  for (let row = 0; row < rows; row++) {
    if (valid && valid[row] === 0) continue
    if (place < 0 || values[row] !== last) {
      last = values[row]
      place = places.get(last) ?? -1
      if (place < 0) places.set(last, place = places.size)
    }
    indices[row] = place
  }
  const lacking = valid ? valid.reduce((count, there) => count + (there ? 0 : 1), 0) : 0
  missing.push(lacking)
  buffers.push(valid && lacking ? packBits(valid) : NO_BYTES, bytesOf(indices))
  const texts = [...places.keys()]
  /** @type {Uint8Array[]} */
  const own = [NO_BYTES]
  pushText(own, texts, texts.length, null)
  return { rows: texts.length, missing: [0], buffers: own }
}

/** @param {Body} body @param {Int32Array} ordinals */
export function pushOrdinals ({ missing, buffers }, ordinals) {
  missing.push(0)
  buffers.push(NO_BYTES, bytesOf(ordinals))
}

/** @param {ArrayBufferView} array */
function bytesOf ({ buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** @param {Uint8Array} flags */
function packBits (flags) {
  const bits = new Uint8Array(Math.ceil(flags.length / 8))
  for (let i = 0; i < flags.length; i++) if (flags[i]) bits[i >> 3] |= 1 << (i & 7)
  return bits
}

/** @param {Uint8Array[]} buffers @param {string[]} texts @param {number} rows @param {Uint8Array|null} valid */
function pushText (buffers, texts, rows, valid) {
  const offsets = offsetsOf(rows, valid, row => Buffer.byteLength(texts[row]))
  const data = Buffer.allocUnsafe(offsets[rows])
  for (let row = 0; row < rows; row++) {
    if (offsets[row + 1] > offsets[row]) data.write(texts[row], offsets[row])
  }
  buffers.push(bytesOf(offsets), data)
}

/** @param {Uint8Array[]} buffers @param {Uint8Array[]} values @param {number} rows @param {Uint8Array|null} valid */
function pushBytes (buffers, values, rows, valid) {
  const offsets = offsetsOf(rows, valid, row => values[row].length)
  const data = Buffer.allocUnsafe(offsets[rows])
  for (let row = 0; row < rows; row++) {
    if (offsets[row + 1] > offsets[row]) data.set(values[row], offsets[row])
  }
  buffers.push(bytesOf(offsets), data)
}

/**
 * Where each value ends; a missing one takes no space.
 * @param {number} rows
 * @param {Uint8Array|null} valid
 * @param {(row: number) => number} lengthOf
 */
function offsetsOf (rows, valid, lengthOf) {
  const offsets = new Int32Array(rows + 1)
  let end = 0
  for (let row = 0; row < rows; row++) {
    if (!valid || valid[row]) end += lengthOf(row)
    offsets[row + 1] = end
  }
  if (end > MAX_BYTES) throw arrowError('a text or bytes column is over 2 GiB')
  return offsets
}
