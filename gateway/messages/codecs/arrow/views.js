import { MAX_DICTIONARY_BYTES, tooLarge } from '../../bounds.js'
import { arrowError } from './format.js'

/** Columns of views: what has up to twelve bytes is in its view, what is longer in one of the buffers behind, perhaps with others. */

const VIEW_BYTES = 16
const MAX_INLINE = 12

/**
 * @template T
 * @param {(data: Buffer, from: number, to: number) => T} cut @param {T} missing
 * @param {{bytes: number}} room  that views may still stand for beyond the bytes that are there: many may be of the same ones
 * @returns {(body: import('./body.js').Body, rows: number, valid: Uint8Array|null) => T[]}
 */
export function views (cut, missing, room) {
  return (body, rows, valid) => {
    const all = body.buffer()
    if (all.length < rows * VIEW_BYTES) throw arrowError(`a buffer of ${all.length} bytes for ${rows} views`)
    const buffers = Array.from({ length: body.variadic() }, () => body.buffer())
    let free = buffers.reduce((sum, { length }) => sum + length, 0)
    /** @type {T[]} */
    const column = new Array(rows)
    for (let row = 0; row < rows; row++) {
      if (valid && !valid[row]) {
        column[row] = missing
        continue
      }
      const at = row * VIEW_BYTES
      const length = all.readInt32LE(at)
      if (length >= 0 && length <= MAX_INLINE) {
        column[row] = cut(all, at + 4, at + 4 + length)
        continue
      }
      const data = buffers[all.readInt32LE(at + 8)]
      const from = all.readInt32LE(at + 12)
      if (!data || length < 0 || from < 0 || from + length > data.length) throw arrowError(`a view of ${length} bytes that are not there`)
      free -= length
      if (free < 0 && (room.bytes -= length) < 0) throw tooLarge(`its views stand for over ${MAX_DICTIONARY_BYTES} bytes more than it has`)
      column[row] = cut(data, from, from + length)
    }
    return column
  }
}
