/** Bytes that grow as they are written, column by column. */
export class ColumnBytes {
  #buffer
  #at = 0

  /** @param {number} expected  bytes */
  constructor (expected) {
    this.#buffer = Buffer.allocUnsafeSlow(expected)
  }

  get filled () { return this.#buffer.subarray(0, this.#at) }

  /** A whole number in groups of seven bits, the least first. @param {number} value */
  varint (value) {
    this.#room(10)
    this.#at = putVarint(this.#buffer, this.#at, value)
  }

  /** @param {bigint} value */
  uint64 (value) {
    this.#room(8)
    this.#at = this.#buffer.writeBigUInt64LE(value, this.#at)
  }

  /** The memory of an array as it is. @param {NodeJS.TypedArray} array */
  raw (array) {
    this.#room(array.byteLength)
    this.#buffer.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), this.#at)
    this.#at += array.byteLength
  }

  /** 64-bit integers, each several times over. @param {[number, bigint][]} runs */
  constants (runs) {
    for (const [count, value] of runs) this.raw(new BigInt64Array(count).fill(value))
  }

  /** A byte a row: 1 where the value is missing. @param {number} rows @param {Uint8Array|null} valid */
  nullMap (rows, valid) {
    this.#room(rows)
    const buffer = this.#buffer
    const at = this.#at
    if (valid) for (let row = 0; row < rows; row++) buffer[at + row] = valid[row] ^ 1
    else buffer.fill(0, at, at + rows)
    this.#at += rows
  }

  /** @param {string} text */
  text (text) {
    this.texts([text], null)
  }

  /**
   * Texts in UTF-8 or bytes as they are, the length before each; nothing where one is missing.
   * @param {(string|Uint8Array)[]} values
   * @param {Uint8Array|null} valid
   */
  texts (values, valid) {
    for (let row = 0; row < values.length; row++) {
      const value = valid && valid[row] === 0 ? '' : values[row]
      // Three bytes a UTF-16 unit are the most; five hold the length of any string.
      this.#room(5 + 3 * value.length)
      this.#at = typeof value === 'string' ? putText(this.#buffer, this.#at, value) : putBytes(this.#buffer, this.#at, value)
    }
  }

  /** @param {string} text @param {number} count */
  repeatedText (text, count) {
    const once = new ColumnBytes(5 + 3 * text.length)
    once.text(text)
    const bytes = once.filled
    this.#room(bytes.length * count)
    this.#buffer.fill(bytes, this.#at, this.#at + bytes.length * count)
    this.#at += bytes.length * count
  }

  /** @param {number} bytes */
  #room (bytes) {
    if (this.#at + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#buffer.length, this.#at + bytes))
    this.#buffer.copy(larger, 0, 0, this.#at)
    this.#buffer = larger
  }
}

/** @param {Buffer} buffer @param {number} at @param {number} value */
function putVarint (buffer, at, value) {
  while (value > 127) {
    buffer[at++] = (value & 127) | 128
    value = Math.floor(value / 128)
  }
  buffer[at] = value
  return at + 1
}

/** @param {Buffer} buffer @param {number} at @param {Uint8Array} value */
function putBytes (buffer, at, value) {
  at = putVarint(buffer, at, value.length)
  buffer.set(value, at)
  return at + value.length
}

/** @param {Buffer} buffer @param {number} at @param {string} value */
function putText (buffer, at, value) {
  // Up to 42 units the length takes one byte, whatever they are: no second pass to learn it.
  if (value.length <= 42) {
    const written = buffer.write(value, at + 1)
    buffer[at] = written
    return at + 1 + written
  }
  at = putVarint(buffer, at, Buffer.byteLength(value))
  return at + buffer.write(value, at)
}
