import { COLUMN_TYPES } from '../../../batch/batch.js'
import { MAX_DICTIONARY_BYTES, tooLarge } from '../../bounds.js'
import { halfFloat } from '../half-float.js'
import { dateKind } from './dates.js'
import { decimalKind } from './decimals.js'
import { Precision, TIME_UNITS, TYPE_NAMES, Type, arrowError } from './format.js'
import { views } from './views.js'

/**
 * Reading Arrow's column types into a batch's. A reader consumes its buffers from the body in order.
 *
 * @typedef {import('../../../batch/batch.js').Column} Column
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {import('./body.js').Body} Body
 * @typedef {(body: Body, rows: number, valid: Uint8Array|null) => Column} ReadColumn
 * @typedef {{type: FieldType, unit?: string, isList?: boolean, read: ReadColumn}} ColumnKind  `unit` of a timestamp, time or duration;
 *   of a list the type is that of its elements, see `lists.js`
 */

/**
 * How to read a column of this Arrow type: narrow integers and half floats are widened, timestamps, times and durations are integers in
 * their unit, dates texts; null where it is not read.
 * @param {number} typeType @param {import('./flatbuffer.js').Table|null} type @param {string} name
 * @param {{bytes: number}} room  that texts and bytes of views and dictionaries may still take
 * @returns {ColumnKind|null}
 */
export function kindOf (typeType, type, name, room) {
  switch (typeType) {
    case Type.int: return integerKind(type, name)
    case Type.floatingPoint: return FLOATS[type?.int16(0) ?? Precision.half] ?? null
    case Type.bool: return BOOL
    case Type.decimal: return decimalKind(type, name)
    case Type.date: return dateKind(type, name)
    case Type.time: return { ...(type?.int32(1) === 64 ? INTEGERS.int64 : INTEGERS.int32), unit: unitOf(type) }
    case Type.duration: return { ...INTEGERS.int64, unit: unitOf(type) }
    case Type.fixedSizeBinary: return { type: 'bytes', read: fixedBytes(type?.int32(0) ?? 0) }
    case Type.utf8View: return { type: 'string', read: views(cutText, NOTHING.string, room) }
    case Type.binaryView: return { type: 'bytes', read: views(cutBytes, NOTHING.bytes, room) }
    case Type.utf8: return { type: 'string', read: texts(body => body.array(Int32Array)) }
    case Type.binary: return { type: 'bytes', read: bytes(body => body.array(Int32Array)) }
    case Type.largeUtf8: return { type: 'string', read: texts(largeOffsets) }
    case Type.largeBinary: return { type: 'bytes', read: bytes(largeOffsets) }
    case Type.timestamp: return { ...INTEGERS.int64, unit: TIME_UNITS[type?.int16(0) ?? 0] }
    default: return null
  }
}

const READ = 'send numbers, bool, texts, bytes, timestamps, dates, decimals, or lists of them'

/** Why a column is not read. @param {number[]} types  of a list that of its elements, too @param {string} name */
export function whyNotRead (types, name) {
  const type = types.map(typeType => TYPE_NAMES[typeType] ?? typeType).join(' of ')
  return `column "${name}" is of type ${type}, which is not supported; ${READ}`
}

/** The type of whole numbers. @param {import('./flatbuffer.js').Table|null} type @param {string} name @returns {ColumnKind|null} */
export function integerKind (type, name) {
  const kind = `${type?.uint8(1) ? 'int' : 'uint'}${type?.int32(0)}`
  return kind === 'uint64' ? { type: 'int64', read: unsigned64(name) } : INTEGERS[kind] ?? null
}

/** Of a time or duration, in milliseconds unless it says so. @param {import('./flatbuffer.js').Table|null} type */
function unitOf (type) {
  return TIME_UNITS[type?.position(0) ? type.int16(0) : 1]
}

/** @param {string} name @returns {ReadColumn} */
function unsigned64 (name) {
  return (body, rows, valid) => {
    let column = body.array(BigInt64Array, rows)
    const signed = column
    signed.forEach((value, row) => {
      if (value >= 0n || (valid && !valid[row])) return
      if (column === signed) column = signed.slice()
      column[row] = 0n
      body.refuse(row, name, BigInt.asUintN(64, value), 'does not fit a 64-bit integer')
    })
    return column
  }
}

/** @param {number} size @returns {ReadColumn} */
function fixedBytes (size) {
  return (body, rows) => {
    const data = body.buffer()
    if (size < 1 || data.length < size * rows) throw arrowError(`a buffer of ${data.length} bytes for ${rows} values of ${size}`)
    return Array.from({ length: rows }, (_, row) => data.subarray(row * size, (row + 1) * size))
  }
}

const OVER_ROOM = `its dictionaries stand for over ${MAX_DICTIONARY_BYTES} bytes`

/**
 * A column whose values are indices into a dictionary.
 * @param {ColumnKind} index
 * @param {{kind: ColumnKind, entries: unknown[]}} dictionary  its entries may come later
 * @param {{bytes: number}} room  that texts and bytes of dictionaries may still take: a few bytes can refer to a long text many times
 * @returns {ColumnKind}
 */
export function dictionaryKind (index, { kind: { type, unit }, entries }, room) {
  const isLong = type === 'string' || type === 'bytes'
  return {
    type,
    unit,
    read (body, rows, valid) {
      const indices = /** @type {ArrayLike<number|bigint>} */ (index.read(body, rows, valid))
      const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(rows)
      for (let row = 0; row < rows; row++) {
        if (valid && !valid[row]) {
          if (type in NOTHING) column[row] = NOTHING[/** @type {keyof NOTHING} */ (type)]
          continue
        }
        const entry = Number(indices[row])
        if (!(entry >= 0 && entry < entries.length)) throw arrowError(`entry ${entry} of a dictionary of ${entries.length}`)
        column[row] = entries[entry]
        if (isLong && (room.bytes -= column[row].length) < 0) throw tooLarge(OVER_ROOM)
      }
      return column
    }
  }
}

/**
 * What a plain array holds for a missing value.
 * @type {{string: string, bytes: Buffer}}
 */
const NOTHING = { string: '', bytes: Buffer.alloc(0) }

/**
 * @param {FieldType} type
 * @param {any} From
 * @param {(value: any) => any} [convert]  where the batch has another type
 * @returns {ColumnKind}
 */
function numbers (type, From, convert) {
  const To = /** @type {any} */ (COLUMN_TYPES[type])
  return { type, read: convert ? (body, rows) => To.from(body.array(From, rows), convert) : (body, rows) => body.array(From, rows) }
}

/** @type {Record<string, ColumnKind>} */
const INTEGERS = {
  int8: numbers('int16', Int8Array, Number),
  uint8: numbers('int16', Uint8Array, Number),
  int16: numbers('int16', Int16Array),
  uint16: numbers('uint16', Uint16Array),
  int32: numbers('int32', Int32Array),
  uint32: numbers('int64', Uint32Array, BigInt),
  int64: numbers('int64', BigInt64Array)
}

/** @type {Record<number, ColumnKind>} */
const FLOATS = {
  [Precision.half]: numbers('float32', Uint16Array, halfFloat),
  [Precision.single]: numbers('float32', Float32Array),
  [Precision.double]: numbers('float64', Float64Array)
}

/** The index type of a dictionary that does not give one. */
export const INT32 = INTEGERS.int32

/** @type {ColumnKind} */
const BOOL = { type: 'bool', read: (body, rows) => body.bits(rows) }

/** @param {Buffer} data @param {number} from @param {number} to */
function cutText (data, from, to) {
  return from === to ? '' : data.toString('utf8', from, to)
}

/** @param {Buffer} data @param {number} from @param {number} to */
function cutBytes (data, from, to) {
  return data.subarray(from, to)
}

/** @param {(body: Body) => Int32Array|Float64Array} readOffsets @returns {ReadColumn} */
function texts (readOffsets) {
  return (body, rows, valid) => values(body, rows, valid, readOffsets, cutText, NOTHING.string)
}

/** @param {(body: Body) => Int32Array|Float64Array} readOffsets @returns {ReadColumn} */
function bytes (readOffsets) {
  return (body, rows, valid) => values(body, rows, valid, readOffsets, cutBytes, NOTHING.bytes)
}

/**
 * @param {Body} body @param {number} rows @param {Uint8Array|null} valid
 * @param {(body: Body) => Int32Array|Float64Array} readOffsets
 * @param {(data: Buffer, from: number, to: number) => unknown} cut
 * @param {unknown} missing
 * @returns {any[]}
 */
function values (body, rows, valid, readOffsets, cut, missing) {
  const offsets = readOffsets(body)
  const data = body.buffer()
  if (rows > 0 && offsets.length <= rows) throw arrowError(`${offsets.length} offsets for ${rows} values`)
  const column = new Array(rows)
  for (let row = 0; row < rows; row++) {
    const from = offsets[row]
    const to = offsets[row + 1]
    // Ascending offsets also keep a small message from becoming a huge batch.
    if (!(from >= 0 && from <= to && to <= data.length)) throw arrowError(`a value from byte ${from} to ${to} of ${data.length}`)
    column[row] = valid && !valid[row] ? missing : cut(data, from, to)
  }
  return column
}

/** @param {Body} body */
function largeOffsets (body) {
  return Float64Array.from(body.array(BigInt64Array), Number)
}
