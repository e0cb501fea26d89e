/**
 * As much of the FlatBuffers format as Arrow's metadata needs (https://flatbuffers.dev/internals): a writer that lays values out from front
 * to back, so that a caller knows the position of a value and can overwrite it in place, and a reader whose every access is checked by
 * DataView.
 *
 * A value to write is a function that appends itself to a Layout and returns its position; scalars are held in their table.
 *
 * @typedef {(layout: Layout) => number} Child
 * @typedef {{size: 1|2|4|8, value: number}} Scalar
 */

/** @param {number} value @returns {Scalar} */
export const int8 = value => ({ size: 1, value })
/** @param {number} value @returns {Scalar} */
export const int16 = value => ({ size: 2, value })
/** @param {number} value @returns {Scalar} */
export const int32 = value => ({ size: 4, value })
/** An int64 that fits 32 bits unsigned. @param {number} value @returns {Scalar} */
export const int64 = value => ({ size: 8, value })

/** @param {string} text @param {number} [align]  of its first byte @returns {Child} */
export function string (text, align = 4) {
  const bytes = Buffer.from(text)
  return layout => {
    const at = layout.vector(bytes.length, bytes.length + 1, align)
    bytes.copy(layout.bytes, at + 4)
    return at
  }
}

/** A vector of tables. @param {Child[]} items @returns {Child} */
export function vector (items) {
  return layout => {
    const at = layout.vector(items.length, items.length * 4, 4)
    items.forEach((item, i) => layout.point(at + 4 + i * 4, item))
    return at
  }
}

/**
 * A vector of zeroed structs of int64s, to be filled in place.
 * @param {number} count @param {number} size  bytes of one
 * @param {(position: number) => void} placed  receives where the first one is
 * @returns {Child}
 */
export function structs (count, size, placed) {
  return layout => {
    const at = layout.vector(count, count * size, 8)
    placed(at + 4)
    return at
  }
}

/**
 * A table; a slot left null has its default.
 * @param {(Scalar|Child|null)[]} slots
 * @param {(positions: number[]) => void} [placed]  receives where each slot's value or pointer is
 * @returns {Child}
 */
export function table (slots, placed) {
  return layout => {
    const align = slots.some(slot => slot && sizeOf(slot) === 8) ? 8 : 4
    const vtable = layout.reserve(4 + slots.length * 2, align, align - 4)
    const start = layout.reserve(4)
    const positions = slots.map(() => 0)
    for (const size of [8, 4, 2, 1]) {
      slots.forEach((slot, i) => { if (slot && sizeOf(slot) === size) positions[i] = layout.reserve(size) })
    }
    layout.bytes.writeUInt16LE(4 + slots.length * 2, vtable)
    layout.bytes.writeUInt16LE(layout.length - start, vtable + 2)
    layout.bytes.writeInt32LE(start - vtable, start)
    slots.forEach((slot, i) => {
      if (!slot) return
      layout.bytes.writeUInt16LE(positions[i] - start, vtable + 4 + i * 2)
      if (typeof slot === 'function') layout.point(positions[i], slot)
      else layout.bytes.writeUIntLE(slot.value, positions[i], Math.min(slot.size, 4))
    })
    placed?.(positions)
    return start
  }
}

/** The bytes of a root table, a multiple of eight. @param {Child} root */
export function flatbuffer (root) {
  const layout = new Layout()
  layout.point(layout.reserve(4), root)
  layout.reserve(0, 8)
  return layout.bytes.subarray(0, layout.length)
}

/** @param {Scalar|Child} slot */
function sizeOf (slot) {
  return typeof slot === 'function' ? 4 : slot.size
}

class Layout {
  bytes = Buffer.alloc(1024)
  length = 0

  /**
   * Space of `size` zeroed bytes that ends at `skew` modulo `align`.
   * @param {number} size @param {number} [align] @param {number} [skew]
   */
  reserve (size, align = 1, skew = 0) {
    const end = this.length + size
    const at = this.length + (((skew - end) % align) + align) % align
    this.length = at + size
    if (this.length > this.bytes.length) this.bytes = Buffer.concat([this.bytes], this.length * 2)
    return at
  }

  /**
   * A vector's space: its length, then its content at a multiple of `align`.
   * @param {number} count
   * @param {number} contentSize
   * @param {number} align
   */
  vector (count, contentSize, align) {
    const at = this.reserve(4, align)
    this.reserve(contentSize)
    this.bytes.writeUInt32LE(count, at)
    return at
  }

  /** Appends the child and makes the pointer at `from` point to it. @param {number} from @param {Child} child */
  point (from, child) {
    const to = child(this)
    this.bytes.writeUInt32LE(to - from, from)
  }
}

/** How often every byte of a buffer may be read. */
const MAX_SHARING = 4

/** A table being read. Any access outside the buffer throws a RangeError. */
export class Table {
  /**
   * @param {DataView} view @param {number} at  position of the table
   * @param {{bytes: number}} left  that may be read: a builder may share strings and vtables, but thousands of tables in the place of one
   *   would make gigabytes of a small buffer
   */
  constructor (view, at, left = { bytes: MAX_SHARING * view.byteLength }) {
    this.left = left
    this.view = view
    this.at = at
    this.vtable = at - view.getInt32(at, true)
    this.vtableSize = view.getUint16(this.vtable, true)
  }

  /** @param {DataView} view */
  static root (view) {
    return new Table(view, view.getUint32(0, true))
  }

  /** Where the slot's value is, 0 when it has its default. @param {number} slot */
  position (slot) {
    const entry = 4 + slot * 2
    const offset = entry < this.vtableSize ? this.view.getUint16(this.vtable + entry, true) : 0
    return offset && this.at + offset
  }

  /** @param {number} slot */
  uint8 (slot) {
    const at = this.position(slot)
    return at && this.view.getUint8(at)
  }

  /** @param {number} slot */
  int16 (slot) {
    const at = this.position(slot)
    return at && this.view.getInt16(at, true)
  }

  /** @param {number} slot */
  int32 (slot) {
    const at = this.position(slot)
    return at && this.view.getInt32(at, true)
  }

  /** A length or offset. @param {number} slot */
  size (slot) {
    const at = this.position(slot)
    return at && sizeAt(this.view, at)
  }

  /** @param {number} slot @returns {Table|null} */
  table (slot) {
    const at = this.position(slot)
    return at ? new Table(this.view, at + this.view.getUint32(at, true), this.left) : null
  }

  /** A vector's count and the position of its first element. @param {number} slot */
  vector (slot) {
    const at = this.position(slot)
    if (!at) return { count: 0, at: 0 }
    const start = at + this.view.getUint32(at, true)
    return { count: this.view.getUint32(start, true), at: start + 4 }
  }

  /** A vector of at most `max` tables. @param {number} slot @param {number} max @returns {Table[]} */
  tables (slot, max) {
    const { count, at } = this.vector(slot)
    if (count > max) throw new RangeError(`${count} entries, where at most ${max} are allowed`)
    this.#spend(count * 4)
    return Array.from({ length: count }, (_, i) => new Table(this.view, at + i * 4 + this.view.getUint32(at + i * 4, true), this.left))
  }

  /** The bytes of a string; null where it is missing. @param {number} slot */
  string (slot) {
    const { count, at } = this.vector(slot)
    if (at + count > this.view.byteLength) throw new RangeError(`a string of ${count} bytes runs past the end`)
    this.#spend(count)
    return at ? Buffer.from(this.view.buffer, this.view.byteOffset + at, count) : null
  }

  /** @param {number} bytes */
  #spend (bytes) {
    this.left.bytes -= bytes
    if (this.left.bytes < 0) throw new RangeError('its parts lie in one another')
  }
}

/** An int64 that counts bytes or rows. @param {DataView} view @param {number} at */
export function sizeAt (view, at) {
  const high = view.getUint32(at + 4, true)
  if (high > 0x1fffff) throw new RangeError(`the 64-bit number at ${at} is not a size`)
  return high * 0x100000000 + view.getUint32(at, true)
}
