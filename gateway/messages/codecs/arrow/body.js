import { MAX_CELLS, tooLarge } from '../../bounds.js'
import { unpacker } from './compression.js'
import { sizeAt } from './flatbuffer.js'
import { arrowError } from './format.js'

/** @typedef {(row: number, reason: string, value: unknown) => void} Refuse */

/** The columns of a record batch, read one after the other: each a node (its length and missing values), then its buffers. */
export class Body {
  /**
   * @param {import('./flatbuffer.js').Table} record  the RecordBatch
   * @param {Buffer} bytes  the message's body
   * @param {{bytes: number, cells: number}} room  that what is unpacked, and elements of lists, may still take
   * @param {Refuse} [onRefused]  is told of values that a batch cannot hold; without it, they are an error
   */
  constructor (record, bytes, room, onRefused) {
    this.unpack = record.position(3) ? unpacker(record.table(3), room) : null
    this.onRefused = onRefused
    this.room = room
    this.rows = record.size(0)
    this.bytes = bytes
    /** Of the column that is read. @type {Uint8Array|null} */
    this.valid = null
    this.view = record.view
    this.nodes = record.vector(1)
    this.buffers = record.vector(2)
    this.variadics = record.vector(4)
    this.variadicsUsed = 0
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
    this.valid = missing > 0 ? this.bits(rows) : this.skip()
    const column = read(this, rows, this.valid)
    return { column, valid: this.valid }
  }

  /**
   * The elements of the lists in the column that is read: a column of its own, as long as it says.
   * @param {import('./columns.js').ReadColumn} read
   * @param {(element: number) => number} rowOf  -1 where it is in none
   */
  elements (read, rowOf) {
    const { rows, valid, onRefused } = this
    if (this.node < this.nodes.count) this.rows = sizeAt(this.view, this.nodes.at + 16 * this.node)
    if ((this.room.cells -= this.rows) < 0) throw tooLarge(`it has over ${MAX_CELLS} values, missing ones included`)
    this.onRefused = onRefused && ((/** @type {number} */ element, /** @type {string} */ reason, /** @type {unknown} */ value) => {
      if (rowOf(element) >= 0) onRefused(rowOf(element), reason, value)
    })
    const elements = this.column(read)
    Object.assign(this, { rows, valid, onRefused })
    return elements
  }

  /**
   * Makes a value of the column that is read missing.
   * @param {number} row @param {string} name @param {unknown} value @param {string} why
   */
  refuse (row, name, value, why) {
    const reason = `${JSON.stringify(name)} ${why}`
    if (!this.onRefused) throw arrowError(`${value} in column ${reason}`)
    this.valid ??= new Uint8Array(this.rows).fill(1)
    this.valid[row] = 0
    this.onRefused(row, reason, value)
  }

  /** How many buffers follow that the column's type does not tell. */
  variadic () {
    if (this.variadicsUsed === this.variadics.count) throw arrowError('it does not say how many buffers its views have')
    const count = sizeAt(this.view, this.variadics.at + 8 * this.variadicsUsed++)
    if (count > this.buffers.count - this.used) throw arrowError(`only ${this.buffers.count} buffers in a record batch`)
    return count
  }

  /** Passes over a column and its buffers. @param {number} buffers */
  passNode (buffers) {
    this.node++
    this.passBuffers(buffers)
  }

  /** @param {number} count */
  passBuffers (count) {
    this.used += count
  }

  /** The next buffer. */
  buffer () {
    const bytes = this.#next()
    return this.unpack && bytes.length > 0 ? this.unpack(bytes) : bytes
  }

  /** Buffers follow one another, so that no byte is read twice. */
  #next () {
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
    this.#next()
    return null
  }
}
