/**
 * VoltDB's wire protocol, version 1 of the login and 0 of calls: all numbers are big-endian, a message follows its length.
 *
 * @typedef {string|number|bigint|Uint8Array|Table|string[]|bigint[]|null} Parameter  a number is an INTEGER, a whole one, or a FLOAT;
 *   a BigInt is a BIGINT
 * @typedef {{types: number[], rows: any[][], names: string[]}} Answer  BIGINT and TIMESTAMP are BigInt
 */

export const MAX_MESSAGE_BYTES = 52_428_800

/** Types, by the numbers that stand for them. @type {Readonly<Record<string, number>>} */
export const TYPE = Object.freeze({
  array: -99, null: 1, tinyint: 3, smallint: 4, integer: 5, bigint: 6, float: 8, varchar: 9, timestamp: 11, table: 21, decimal: 22,
  varbinary: 25
})

/** What stands for NULL; a FLOAT up to that one is. */
const NULL = { tinyint: -128, smallint: -32768, integer: -(2 ** 31), bigint: -(2n ** 63n) }
export const NULL_FLOAT = -1.7e308

/** @param {string} text */
function textBytes (text) {
  const bytes = Buffer.from(text)
  return Buffer.concat([int32(bytes.length), bytes])
}

/** @param {number} value */
function int32 (value) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** @param {Uint8Array[]} parts */
function message (parts) {
  return Buffer.concat([int32(parts.reduce((sum, { length }) => sum + length, 0)), ...parts])
}

/** @param {string} user @param {Buffer} hash  SHA-256 of the password */
export function loginMessage (user, hash) {
  return message([Buffer.of(1, 1), textBytes('database'), textBytes(user), hash])
}

/**
 * @param {Buffer} bytes  of the answer to a login
 * @returns {{refusal: number, version: string}} `refusal`: 0 where the login is accepted
 */
export function readLogin (bytes) {
  const refusal = bytes.readInt8(1)
  return { refusal, version: refusal === 0 ? new Cursor(bytes, 26).text() ?? '' : '' }
}

/** @param {bigint} id  to know the answer by @param {string} procedure @param {Parameter[]} parameters */
export function callMessage (id, procedure, parameters) {
  const handle = Buffer.alloc(10)
  handle.writeBigInt64BE(id)
  handle.writeInt16BE(parameters.length, 8)
  return message([Buffer.of(0), textBytes(procedure), handle, ...parameters.flatMap(parameterBytes)])
}

/** @param {Parameter} value @returns {Uint8Array[]} */
function parameterBytes (value) {
  if (value === null) return [Buffer.of(TYPE.null)]
  if (typeof value === 'string') return [Buffer.of(TYPE.varchar), textBytes(value)]
  if (typeof value === 'bigint') {
    const bytes = Buffer.alloc(9, TYPE.bigint)
    bytes.writeBigInt64BE(value, 1)
    return [bytes]
  }
  if (typeof value === 'number') {
    const isWhole = Number.isInteger(value) && Math.abs(value) < 2 ** 31
    const bytes = Buffer.alloc(isWhole ? 5 : 9, isWhole ? TYPE.integer : TYPE.float)
    if (isWhole) bytes.writeInt32BE(value, 1)
    else bytes.writeDoubleBE(value, 1)
    return [bytes]
  }
  if (value instanceof Table) return [Buffer.of(TYPE.table), ...value.bytes]
  if (value instanceof Uint8Array) return [Buffer.of(TYPE.varbinary), int32(value.length), value]
  const count = Buffer.alloc(4)
  count.writeInt8(TYPE.array)
  count.writeInt8(typeof value[0] === 'bigint' ? TYPE.bigint : TYPE.varchar, 1)
  count.writeInt16BE(value.length, 2)
  return [count, ...value.map(each => typeof each === 'string' ? textBytes(each) : int64(each))]
}

/** @param {bigint} value */
function int64 (value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

/** A row of texts and of whole numbers of 64 bits, after its length. @param {(string|bigint)[]} cells */
export function rowBytes (cells) {
  return message(cells.map(cell => typeof cell === 'string' ? textBytes(cell) : int64(cell)))
}

/** A table as a parameter, whose rows are encoded already. */
export class Table {
  /** @param {{name: string, type: number}[]} columns @param {number} rows @param {Uint8Array} bytes  of them, each after its length */
  constructor (columns, rows, bytes) {
    const names = columns.map(({ name }) => textBytes(name))
    const head = Buffer.alloc(3)
    head.writeInt16BE(columns.length, 1)
    const meta = message([head, Buffer.from(columns.map(({ type }) => type)), ...names])
    this.bytes = [int32(meta.length + 4 + bytes.length), meta, int32(rows), bytes]
  }
}

/**
 * @param {Buffer} bytes  of a message
 * @returns {{id: bigint, status: number, reason: string, answers: () => Answer[]}} `status`: 1 where all went well
 */
export function readAnswer (bytes) {
  const cursor = new Cursor(bytes, 1)
  const id = cursor.int64()
  const present = cursor.int8()
  const status = cursor.int8()
  const reason = present & 0x20 ? cursor.text() ?? '' : ''
  cursor.int8() // of the procedure's own
  const own = present & 0x80 ? cursor.text() ?? '' : ''
  cursor.int32() // milliseconds in the server
  if (present & 0x40) cursor.bytes()
  return {
    id,
    status,
    reason: reason || own,
    answers: () => Array.from({ length: cursor.count16() }, () => readTable(cursor))
  }
}

/** @param {Cursor} cursor @returns {Answer} */
function readTable (cursor) {
  cursor.int32() // its length
  cursor.int32() // that of what describes its columns
  cursor.int8()
  const count = cursor.count16()
  const types = Array.from({ length: count }, () => cursor.int8())
  const names = Array.from({ length: count }, () => cursor.text() ?? '')
  const read = types.map(type => CELLS.get(type))
  const rows = Array.from({ length: cursor.count32() }, () => {
    cursor.int32() // its length
    return read.map((cell, i) => {
      if (!cell) throw new RangeError(`a value of type ${types[i]}`)
      return cell(cursor)
    })
  })
  return { types, names, rows }
}

const CELLS = new Map(/** @type {[number, (cursor: Cursor) => any][]} */ ([
  [TYPE.tinyint, cursor => orNull(cursor.int8(), NULL.tinyint)],
  [TYPE.smallint, cursor => orNull(cursor.int16(), NULL.smallint)],
  [TYPE.integer, cursor => orNull(cursor.int32(), NULL.integer)],
  [TYPE.bigint, cursor => orNull(cursor.int64(), NULL.bigint)],
  [TYPE.timestamp, cursor => orNull(cursor.int64(), NULL.bigint)],
  [TYPE.float, cursor => {
    const value = cursor.float()
    return value <= NULL_FLOAT ? null : value
  }],
  [TYPE.varchar, cursor => cursor.text()],
  [TYPE.varbinary, cursor => cursor.bytes()],
  [TYPE.decimal, cursor => cursor.decimal()]
]))

/** @template T @param {T} value @param {T} none */
function orNull (value, none) {
  return value === none ? null : value
}

/** Reads one value after the other; what a message lacks, or claims beyond its end, is a RangeError. */
class Cursor {
  #bytes
  #at

  /** @param {Buffer} bytes @param {number} at */
  constructor (bytes, at) {
    this.#bytes = bytes
    this.#at = at
  }

  int8 () { return this.#bytes.readInt8(this.#skip(1)) }
  int16 () { return this.#bytes.readInt16BE(this.#skip(2)) }
  int32 () { return this.#bytes.readInt32BE(this.#skip(4)) }
  int64 () { return this.#bytes.readBigInt64BE(this.#skip(8)) }
  float () { return this.#bytes.readDoubleBE(this.#skip(8)) }

  /** How many follow, of which each has a byte at least. */
  count16 () { return this.#possible(this.int16()) }
  count32 () { return this.#possible(this.int32()) }

  /** @returns {Buffer|null} */
  bytes () {
    const length = this.int32()
    if (length === -1) return null
    const from = this.#skip(this.#possible(length))
    return this.#bytes.subarray(from, from + length)
  }

  text () { return this.bytes()?.toString() ?? null }

  /** As a text, with the twelve digits that it has behind the point. */
  decimal () {
    const value = BigInt.asIntN(128, this.int64() << 64n | BigInt.asUintN(64, this.int64()))
    if (value === -(2n ** 127n)) return null
    const digits = String(value < 0n ? -value : value).padStart(13, '0')
    return `${value < 0n ? '-' : ''}${digits.slice(0, -12)}.${digits.slice(-12)}`
  }

  /** @param {number} count */
  #possible (count) {
    if (count < 0 || count > this.#bytes.length - this.#at) throw new RangeError(`${count} values where the message ends`)
    return count
  }

  /** @param {number} count */
  #skip (count) {
    const from = this.#at
    this.#at += count
    return from
  }
}
