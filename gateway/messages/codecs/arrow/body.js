import { sizeAt } from './flatbuffer.js'
import { arrowError } from './format.js'

/** The columns of a record batch, read one after the other: each a node (its length and missing values), then its buffers. */
export class Body {
  /**
   * @param {import('./flatbuffer.js').Table} record  the RecordBatch
   * @param {Buffer} bytes  the message's body
   */
  constructor (record, bytes) {
    if (record.position(3)) throw arrowError('its record batches are compressed; write them without compression')
    this.rows = record.size(0)
    this.bytes = bytes
    this.view = record.view
    this.nodes = record.vector(1)
    this.buffers = record.vector(2)
    this.node = 0
    this.used = 0
    this.end = 0
  }

  /**
   * The next column, and its validity: null where nothing is missing.
   * @param {import('./columns.js').ReadColumn} read
   */
  column (read) {
    if (this.node === this.nodes.count) throw arrowError(`${this.nodes.count} columns in a record batch, fewer than in its schema`)
    const at = this.nodes.at + 16 * this.node++
    const rows = sizeAt(this.view, at)
    if (rows !== this.rows) throw arrowError(`a column of ${rows} values in a record batch of ${this.rows} rows`)
    const missing = sizeAt(this.view, at + 8)
    const valid = missing > 0 ? this.bits(rows) : this.skip()
    return { column: read(this, rows, valid), valid }
  }

  /** The next buffer. Buffers follow one another, so that no byte is read twice. */
  buffer () {
    if (this.used === this.buffers.count) throw arrowError(`only ${this.used} buffers in a record batch`)
    const at = this.buffers.at + 16 * this.used++
    const length = sizeAt(this.view, at + 8)
    if (length === 0) return this.bytes.subarray(0, 0)
    const offset = sizeAt(this.view, at)
    if (offset < this.end || offset + length > this.bytes.length) {
      throw arrowError(`a buffer from byte ${offset} to ${offset + length} of ${this.bytes.length}`)
    }
    this.end = offset + length
    return this.bytes.subarray(offset, this.end)
  }

  /**
   * The next buffer as numbers: a view where it is aligned.
   * @template T
   * @param {{new (buffer: ArrayBufferLike, byteOffset: number, length: number): T, BYTES_PER_ELEMENT: number}} Type
   * @param {number} [length]  default: all there are
   * @returns {T}
   */
  array (Type, length) {
    const bytes = this.buffer()
    const size = Type.BYTES_PER_ELEMENT
    const count = length ?? Math.floor(bytes.length / size)
    if (bytes.length < count * size) throw arrowError(`a buffer of ${bytes.length} bytes for ${count} values of ${size}`)
    if (bytes.byteOffset % size === 0) return new Type(bytes.buffer, bytes.byteOffset, count)
    return new Type(new Uint8Array(bytes).buffer, 0, count)
  }

  /** The next buffer's bits, a byte each. @param {number} count */
  bits (count) {
    const bytes = this.buffer()
    if (bytes.length * 8 < count) throw arrowError(`a buffer of ${bytes.length} bytes for ${count} bits`)
    const flags = new Uint8Array(count)
    for (let i = 0; i < count; i++) flags[i] = (bytes[i >> 3] >> (i & 7)) & 1
    return flags
  }

  /** @returns {null} */
  skip () {
    this.buffer()
    return null
  }
}
