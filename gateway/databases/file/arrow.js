import { Batch, COLUMN_TYPES } from '../../batch/batch.js'
import { encode } from '../../messages/codecs/arrow/arrow.js'
import { PREFIX_BYTES } from '../../messages/codecs/arrow/format.js'
import { constantOf, valuesOf } from '../wide.js'
import { ArrowIndex, END_BYTES, MAGIC } from './arrow-index.js'

/**
 * @typedef {import('../../batch/batch.js').Column} Values
 * @typedef {import('../../batch/batch.js').Field} Field
 * @typedef {import('./formats.js').Column} Column
 * @typedef {import('./formats.js').Piece} Piece
 * @typedef {{values: any, valid: Uint8Array|null}} Cells
 */

/** In the schema's metadata, where a staged batch has its source: a file's rows may come from several. */
const SOURCE = 'file'

/**
 * An Arrow IPC file: magic bytes, a stream, and a footer, which is written when the file is finished or closed. Until then, what follows
 * the first eight bytes is a stream. What is written at once and has the same columns is one record batch.
 * @type {import('./formats.js').Format}
 */
export const arrow = {
  ending: 'arrow',
  fits (has, needs) {
    const byName = new Map(has.map(column => [column.name, column]))
    return needs.every(({ name, type, unit }) => {
      const column = byName.get(name)
      return column !== undefined && column.type === type && column.unit === unit
    })
  },
  head (columns) {
    const stream = encode(batchOf(columns, []))
    return Buffer.concat([MAGIC, stream.subarray(0, schemaBytes(stream))])
  },
  encode (columns, pieces) {
    const stream = encode(batchOf(columns, pieces))
    return [stream.subarray(schemaBytes(stream), stream.length - END_BYTES)]
  },
  index: () => new ArrowIndex()
}

/** @param {Buffer} stream */
function schemaBytes (stream) {
  return PREFIX_BYTES + stream.readUInt32LE(4)
}

/** One batch with these columns of all the pieces' rows. @param {Column[]} columns @param {Piece[]} pieces */
function batchOf (columns, pieces) {
  const fields = columns.slice(1).map(({ name, type, unit }) => {
    return /** @type {Field} */ ({ name, type: type === 'json' ? 'string' : type, ...unit && { unit } })
  })
  const cells = fields.map(field => joined(field, pieces.map(piece => cellsOf(field, piece))))
  return new Batch({
    source: SOURCE,
    time: joinedArrays(BigInt64Array, pieces.map(({ batch }) => batch.time)),
    fields,
    columns: cells.map(({ values }) => values),
    validity: cells.map(({ valid }) => valid)
  })
}

/** @param {Field} field @param {Piece} piece @returns {Cells} */
function cellsOf ({ name, type }, { batch, columns }) {
  const { rows } = batch
  const column = columns.find(each => each.name === name)
  if (!column) return { values: nothing(type, rows), valid: new Uint8Array(rows) }
  const constant = constantOf(column, batch)
  return constant === undefined ? valuesOf(column, batch) : { values: new Array(rows).fill(constant), valid: null }
}

/** The values of rows that have none. @param {import('../../batch/batch.js').FieldType} type @param {number} rows */
function nothing (type, rows) {
  const Type = /** @type {any} */ (COLUMN_TYPES[type])
  return Type === Array ? new Array(rows).fill(type === 'string' ? '' : Buffer.alloc(0)) : new Type(rows)
}

/** @param {Field} field @param {Cells[]} all @returns {Cells} */
function joined ({ type }, all) {
  if (all.length === 1) return all[0]
  const hasGaps = all.some(({ valid }) => valid)
  return {
    values: joinedArrays(COLUMN_TYPES[type], all.map(({ values }) => values)),
    valid: hasGaps ? joinedArrays(Uint8Array, all.map(({ values, valid }) => valid ?? new Uint8Array(values.length).fill(1))) : null
  }
}

/** @param {any} Type @param {any[]} arrays */
function joinedArrays (Type, arrays) {
  if (arrays.length === 1) return arrays[0]
  if (Type === Array) return arrays.flat()
  const all = new Type(arrays.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const array of arrays) {
    all.set(array, at)
    at += array.length
  }
  return all
}
