import { exactJson } from '../influxdb/influxql.js'

/**
 * Rows as HBase's REST server sends and takes them: a CellSet of Protocol Buffers. As JSON each key and value would be base64.
 *
 * @typedef {{key: Buffer, cells: [column: Buffer, value: Buffer][], timestamp?: bigint}} Row  of one timestamp; unless given, the server's
 * @typedef {{key: Buffer, cells: {family: string, column: string, timestamp: bigint, value: Buffer}[]}} FoundRow
 */

export const PROTOBUF = 'application/x-protobuf'

/** Fields of the messages, with how they are written: 2 is bytes of a length, 0 a number. */
const [ROWS, KEY, CELLS, COLUMN, TIMESTAMP, DATA] = [1 << 3 | 2, 1 << 3 | 2, 2 << 3 | 2, 2 << 3 | 2, 3 << 3, 4 << 3 | 2]

const TIMESTAMP_BYTES = 10
const NOTHING = Buffer.alloc(0)

/** @param {Iterable<Row>} rows */
export function encodeRows (rows) {
  const all = Array.from(rows, ({ key, cells, timestamp }) => {
    const at = timestamp === undefined ? NOTHING : Buffer.from([TIMESTAMP, ...varint(timestamp)])
    let size = sizeOf(key.length)
    for (const cell of cells) size += sizeOf(cellSize(cell, at))
    return { key, cells, at, size }
  })
  const message = Buffer.allocUnsafe(all.reduce((sum, { size }) => sum + sizeOf(size), 0))
  let end = 0
  const begin = (/** @type {number} */ tag, /** @type {number} */ length) => {
    message[end++] = tag
    for (; length > 127; length = length / 128 | 0) message[end++] = length & 127 | 128
    message[end++] = length
  }
  const put = (/** @type {Buffer} */ bytes) => {
    message.set(bytes, end)
    end += bytes.length
  }
  for (const { key, cells, at, size } of all) {
    begin(ROWS, size)
    begin(KEY, key.length)
    put(key)
    for (const cell of cells) {
      const [column, value] = cell
      begin(CELLS, cellSize(cell, at))
      begin(COLUMN, column.length)
      put(column)
      put(at)
      begin(DATA, value.length)
      put(value)
    }
  }
  return message
}

/** What a field takes with tag and length. @param {number} length */
function sizeOf (length) {
  let size = 2 + length
  for (let rest = length; rest > 127; rest = rest / 128 | 0) size++
  return size
}

/** @param {[Buffer, Buffer]} cell @param {Buffer} at  its timestamp */
function cellSize ([column, value], at) {
  return sizeOf(column.length) + at.length + sizeOf(value.length)
}

/** @param {Buffer} message @returns {FoundRow[]} */
export function decodeRows (message) {
  return fieldsOf(message).map(([, row]) => {
    const fields = fieldsOf(/** @type {Buffer} */ (row))
    const [, key] = fields.find(([tag]) => tag === KEY) ?? [0, Buffer.alloc(0)]
    const cells = fields.filter(([tag]) => tag === CELLS).map(([, cell]) => {
      const its = /** @type {Map<number, any>} */ (new Map(fieldsOf(/** @type {Buffer} */ (cell))))
      return cellOf(its.get(COLUMN), its.get(TIMESTAMP) ?? 0n, its.get(DATA) ?? Buffer.alloc(0))
    })
    return { key: /** @type {Buffer} */ (key), cells }
  })
}

/** The same as JSON, which is what a server sends whole. @param {string} text @returns {FoundRow[]} */
export function decodeJsonRows (text) {
  const bytesIn = (/** @type {string} */ base64) => Buffer.from(base64, 'base64')
  return exactJson(text).Row.map((/** @type {any} */ { key, Cell: cells }) => ({
    key: bytesIn(key),
    cells: cells.map((/** @type {any} */ { column, timestamp, $: value }) => cellOf(bytesIn(column), BigInt(timestamp), bytesIn(value)))
  }))
}

/** @param {Buffer} name @param {bigint} timestamp @param {Buffer} value */
function cellOf (name, timestamp, value) {
  const column = name.toString()
  const colon = column.indexOf(':')
  return { family: column.slice(0, colon), column: column.slice(colon + 1), timestamp, value }
}

/** @param {bigint} value */
function varint (value) {
  const found = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 127n; rest >>= 7n) found.push(Number(rest & 127n) | 128)
  found.push(Number(rest))
  return found
}

/** @param {Buffer} message @returns {[tag: number, value: Buffer|bigint][]} */
function fieldsOf (message) {
  /** @type {[number, Buffer|bigint][]} */
  const fields = []
  let at = 0
  /** Small ones as such: nearly all are. @returns {number|bigint} */
  const number = () => {
    const first = message.readUInt8(at++)
    if (first < 128) return first
    let value = BigInt(first & 127)
    for (let shift = 7n, byte = 128; byte > 127 && shift < TIMESTAMP_BYTES * 7; shift += 7n) {
      byte = message.readUInt8(at++)
      value |= BigInt(byte & 127) << shift
    }
    return BigInt.asIntN(64, value)
  }
  while (at < message.length) {
    const tag = Number(number())
    const value = number()
    if ((tag & 7) === 0) {
      fields.push([tag, BigInt(value)])
      continue
    }
    const end = at + Number(value)
    if ((tag & 7) !== 2 || end < at || end > message.length) throw new Error('The answer is not a CellSet')
    fields.push([tag, message.subarray(at, at = end)])
  }
  return fields
}
