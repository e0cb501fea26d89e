import { asciiName } from '../names.js'

/**
 * HBase as the wide layout sees it. It knows bytes only: columns' kinds are those of `Bytes` of its Java client, and are kept beside the
 * commit records.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'HBase',
  maxNameBytes: 1000,
  maxColumns: 2000,
  fold: name => name,
  timeColumns: [{ name: 'time_ns', type: 'time_ns', origin: 'time' }],
  ownNames: ['time', 'time_ns', 'source'],
  columnTypes: {
    time: 'long', time_ns: 'long', float64: 'double', float32: 'float', int64: 'long', int32: 'int', int16: 'short', uint16: 'int',
    bool: 'boolean', string: 'string', json: 'string', bytes: 'bytes'
  },
  accepts: {
    time: ['long'],
    time_ns: ['long'],
    float64: ['double'],
    float32: ['float', 'double'],
    int64: ['long'],
    int32: ['int', 'long', 'double'],
    int16: ['short', 'int', 'long', 'float', 'double'],
    uint16: ['int', 'long', 'float', 'double'],
    bool: ['boolean'],
    string: ['string'],
    json: ['string'],
    bytes: ['bytes']
  }
}

/**
 * How values of each kind are written and read.
 * @type {Record<string, {encode: (value: any) => Buffer, decode: (bytes: Buffer) => any}>}
 */
export const kinds = {
  double: fixed(8, (buffer, value) => buffer.writeDoubleBE(Number(value)), buffer => buffer.readDoubleBE()),
  float: fixed(4, (buffer, value) => buffer.writeFloatBE(Number(value)), buffer => buffer.readFloatBE()),
  long: fixed(8, (buffer, value) => buffer.writeBigInt64BE(BigInt(value)), buffer => buffer.readBigInt64BE()),
  int: fixed(4, (buffer, value) => buffer.writeInt32BE(value), buffer => buffer.readInt32BE()),
  short: fixed(2, (buffer, value) => buffer.writeInt16BE(value), buffer => buffer.readInt16BE()),
  boolean: fixed(1, (buffer, value) => buffer.writeInt8(value ? -1 : 0), buffer => buffer[0] !== 0),
  string: { encode: value => Buffer.from(value), decode: bytes => bytes.toString() },
  bytes: { encode: value => Buffer.from(value.buffer, value.byteOffset, value.byteLength), decode: bytes => bytes }
}

/** @param {number} length @param {(buffer: Buffer, value: any) => void} write @param {(buffer: Buffer) => any} read */
function fixed (length, write, read) {
  return {
    encode (/** @type {any} */ value) {
      const buffer = Buffer.allocUnsafe(length)
      write(buffer, value)
      return buffer
    },
    decode: (/** @type {Buffer} */ bytes) => bytes.length === length ? read(bytes) : null
  }
}

const MAX_TABLE_LETTERS = 200

/** The table that has a name, as HBase can have it. @param {string} name */
export const tableName = name => asciiName(name, MAX_TABLE_LETTERS)
