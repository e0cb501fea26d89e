import { types } from 'node:util'
import * as arrays from './arrays.js'

/**
 * Sparkplug's data types, by number: converts a metric's value to a field's and back. Numbers come in `int_value` or `long_value`, negative
 * ones in two's complement of 8, 16, 32 or 64 bits: programs differ, so all variants are read. What is written follows the specification
 * (3.0, chapter 6.4).
 *
 * @typedef {import('../batch/batch.js').FieldType} FieldType
 * @typedef {import('./sparkplug_b_pb.js').Payload_Metric} Metric
 * @typedef {Metric['value']} Value
 *
 * @typedef {object} Datatype
 * @property {string} name
 * @property {FieldType} field
 * @property {string} [unit]
 * @property {boolean} [isArray]  of elements of `field`
 * @property {(value: Value) => unknown} read  the field's value, or the array's elements; Bad where it is not one
 */

/** What a value that cannot be stored is read as. */
export class Bad {
  /** @param {string} reason */
  constructor (reason) { this.reason = reason }
}

const NOT_A_NUMBER = new Bad('not a number')
const INFINITE = new Bad('infinite')
const OUT_OF_RANGE = new Bad('out of range')
const WRONG_KIND = new Bad('not of its type')
export const TOO_LONG = new Bad('an array of too many elements')

/** @type {Map<number, Datatype>} */
export const DATATYPES = new Map([
  [1, signed('Int8', 8, 'int16')],
  [2, signed('Int16', 16, 'int16')],
  [3, signed('Int32', 32, 'int32')],
  [4, { name: 'Int64', field: 'int64', read: readInt64 }],
  [5, unsigned('UInt8', 8, 'uint16')],
  [6, unsigned('UInt16', 16, 'uint16')],
  [7, { name: 'UInt32', field: 'int64', read: readUint32 }],
  [8, { name: 'UInt64', field: 'int64', read: readUint64 }],
  [9, { name: 'Float', field: 'float32', read: readFloat }],
  [10, { name: 'Double', field: 'float64', read: readFloat }],
  [11, { name: 'Boolean', field: 'bool', read: ofCase('booleanValue') }],
  [12, { name: 'String', field: 'string', read: ofCase('stringValue') }],
  [13, { name: 'DateTime', field: 'int64', unit: 'ms', read: readUint64 }],
  [14, { name: 'Text', field: 'string', read: ofCase('stringValue') }],
  [15, { name: 'UUID', field: 'string', read: ofCase('stringValue') }],
  [17, { name: 'Bytes', field: 'bytes', read: ofCase('bytesValue') }],
  [18, { name: 'File', field: 'bytes', read: ofCase('bytesValue') }],
  [22, array('Int8Array', 'int16', arrays.int8s)],
  [23, array('Int16Array', 'int16', arrays.int16s)],
  [24, array('Int32Array', 'int32', arrays.int32s)],
  [25, array('Int64Array', 'int64', arrays.int64s)],
  [26, array('UInt8Array', 'uint16', arrays.uint8s)],
  [27, array('UInt16Array', 'uint16', arrays.uint16s)],
  [28, array('UInt32Array', 'int64', arrays.uint32s, BigInt)],
  [29, array('UInt64Array', 'int64', arrays.uint64s, fitting)],
  [30, array('FloatArray', 'float32', arrays.floats, finite)],
  [31, array('DoubleArray', 'float64', arrays.doubles, finite)],
  [32, array('BooleanArray', 'bool', arrays.booleans)],
  [33, array('StringArray', 'string', arrays.strings)],
  [34, array('DateTimeArray', 'int64', arrays.uint64s, fitting, 'ms')]
])

/** The data type that holds a field's values. @type {Record<FieldType, number>} */
export const DATATYPE_OF = { float64: 10, float32: 9, int64: 4, int32: 3, int16: 2, uint16: 6, bool: 11, string: 12, bytes: 17 }

/**
 * A field's value as a metric's. A flow can put values of other types into text and bytes columns: these are sent as text.
 * @type {Record<FieldType, (value: any) => Value>}
 */
export const WRITE = {
  float64: value => ({ case: 'doubleValue', value }),
  float32: value => ({ case: 'floatValue', value }),
  int64: value => ({ case: 'longValue', value: BigInt.asUintN(64, value) }),
  int32: value => ({ case: 'intValue', value: value >>> 0 }),
  int16: value => ({ case: 'intValue', value: value & 0xffff }),
  uint16: value => ({ case: 'intValue', value }),
  bool: value => ({ case: 'booleanValue', value }),
  string: value => ({ case: 'stringValue', value: String(value) }),
  bytes: value => ({ case: 'bytesValue', value: types.isUint8Array(value) ? value : Buffer.from(String(value)) })
}

/** @param {string} name @param {8|16|32} bits @param {FieldType} field @returns {Datatype} */
function signed (name, bits, field) {
  const above = 2 ** bits
  const highest = above / 2 - 1
  return {
    name,
    field,
    read (value) {
      const whole = wholeOf(value, true)
      if (whole === undefined) return WRONG_KIND
      if (whole < -above / 2 || whole >= above) return OUT_OF_RANGE
      return whole > highest ? whole - above : whole
    }
  }
}

/** @param {string} name @param {8|16} bits @param {FieldType} field @returns {Datatype} */
function unsigned (name, bits, field) {
  return { name, field, read: value => readUnsigned(value, 2 ** bits) }
}

/** @param {Value} value @param {number} above */
function readUnsigned (value, above) {
  const whole = wholeOf(value, false)
  if (whole === undefined) return WRONG_KIND
  return whole < above ? whole : OUT_OF_RANGE
}

/** Exact below 2^53, beyond which callers refuse it. @param {Value} value @param {boolean} isSigned @returns {number|undefined} */
function wholeOf (value, isSigned) {
  if (value.case === 'intValue') return isSigned ? value.value | 0 : value.value
  if (value.case === 'longValue') return Number(isSigned ? BigInt.asIntN(64, value.value) : value.value)
}

/** @param {Value} value */
function readUint32 (value) {
  const whole = readUnsigned(value, 2 ** 32)
  return typeof whole === 'number' ? BigInt(whole) : whole
}

/** @param {Value} value */
function readInt64 (value) {
  if (value.case === 'longValue') return BigInt.asIntN(64, value.value)
  return value.case === 'intValue' ? BigInt(value.value) : WRONG_KIND
}

/** @param {Value} value */
function readUint64 (value) {
  return value.case === 'longValue' || value.case === 'intValue' ? fitting(BigInt(value.value)) : WRONG_KIND
}

/** @param {Value} value */
function readFloat (value) {
  return value.case === 'doubleValue' || value.case === 'floatValue' ? finite(value.value) : WRONG_KIND
}

/** @param {Value['case']} kind @returns {Datatype['read']} */
function ofCase (kind) {
  return value => value.case === kind ? value.value : WRONG_KIND
}

/**
 * @param {string} name
 * @param {FieldType} field
 * @param {arrays.ReadArray} unpack
 * @param {(element: any) => unknown} [convert]
 * @param {string} [unit]
 * @returns {Datatype}
 */
function array (name, field, unpack, convert, unit) {
  return {
    name,
    field,
    unit,
    isArray: true,
    read (value) {
      const elements = value.case === 'bytesValue' ? unpack(value.value) : undefined
      if (!elements) return elements === null ? TOO_LONG : WRONG_KIND
      return convert ? elements.map(convert) : elements
    }
  }
}

/** A field holds 63 of 64 unsigned bits: beyond, the quality has the digits. @param {bigint} value */
function fitting (value) {
  return BigInt.asIntN(64, value) === value ? value : new Bad(`out of range: ${value}`)
}

/** @param {number} value */
function finite (value) {
  if (Number.isFinite(value)) return value
  return Number.isNaN(value) ? NOT_A_NUMBER : INFINITE
}
