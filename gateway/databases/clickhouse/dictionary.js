/**
 * A column of type LowCardinality: its distinct texts, and of each row which of them it has. Of a nullable one the first stands for NULL.
 *
 * @typedef {{rows: number, constant?: string, values?: any, valid: Uint8Array|null}} Piece  a batch's part: one text for all rows, or texts
 *   (or bytes) of each
 */

const VERSION = 1n

/** Beside the width of the indices: the dictionary comes with the block. */
const FLAGS = 0x600n

/**
 * @param {import('./column-bytes.js').ColumnBytes} out
 * @param {Piece[]} pieces
 * @param {number} rows  of all
 * @param {boolean} isNullable
 */
export function dictionaryColumn (out, pieces, rows, isNullable) {
  const indices = new Uint32Array(rows)
  /** @type {(string|Uint8Array)[]} */
  const texts = isNullable ? [''] : []
  /** @type {Map<string, number>} */
  const places = new Map()
  const placeOf = (/** @type {string|Uint8Array} */ value) => {
    const key = typeof value === 'string' ? value : Buffer.from(value).toString('latin1')
    let place = places.get(key)
    if (place === undefined) places.set(key, place = texts.push(value) - 1)
    return place
  }
  let at = 0
  for (const { rows: count, constant, values, valid } of pieces) {
    if (constant !== undefined) indices.fill(placeOf(constant), at, at + count)
    else {
      for (let row = 0; row < count; row++) {
        const isThere = !valid || valid[row] === 1
        indices[at + row] = isThere ? placeOf(values[row]) : isNullable ? 0 : placeOf('')
      }
    }
    at += count
  }
  const [width, narrowed] = texts.length <= 0xff
    ? [0n, Uint8Array.from(indices)]
    : texts.length <= 0xffff ? [1n, Uint16Array.from(indices)] : [2n, indices]
  out.uint64(VERSION)
  out.uint64(FLAGS | width)
  out.uint64(BigInt(texts.length))
  out.texts(texts, null)
  out.uint64(BigInt(rows))
  out.raw(narrowed)
}
