import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import fc from 'fast-check'
import { Batch, COLUMN_TYPES } from '../../gateway/batch/batch.js'
import { CopyEncoder } from '../../gateway/databases/postgresql/copy-encoder.js'
import { dialect } from '../../gateway/databases/postgresql/dialect.js'
import { wideColumns } from '../../gateway/databases/wide.js'

/** @typedef {import('../../gateway/batch/batch.js').FieldType} FieldType */

const MICROSECONDS_TO_2000 = 946_684_800_000_000n

describe('Binary COPY encoder', () => {
  it('writes what a reader of the format reads back', () => {
    const encoder = new CopyEncoder()
    fc.assert(fc.property(fc.array(batches(), { minLength: 1, maxLength: 3 }),
      fc.array(fieldTypes(), { maxLength: 6 }),
      (makers, types) => {
        const sent = makers.map(make => make(types))
        const columns = wideColumns(sent[0], dialect, true).map(column => ({ ...column, kind: dialect.columnTypes[column.type] }))
        const rows = readRows(withoutFrames(encoder.messages(columns, sent)))
        const expected = sent.flatMap(batch => Array.from(batch.time, (time, row) => [
          floorDivide(time, 1000n) - MICROSECONDS_TO_2000,
          time,
          batch.source,
          batch.tags.line,
          ...types.map((_, field) => batch.value(field, row))
        ]))
        const read = rows.map(([microseconds, time, source, line, ...cells]) => [
          microseconds?.readBigInt64BE(),
          time?.readBigInt64BE(),
          String(source),
          String(line),
          ...types.map((type, field) => decoded(type, cells[field]))
        ])
        // Chai's own comparison takes minutes for as many rows; it is here to show the difference.
        if (!isDeepStrictEqual(read, expected)) expect(read).to.deep.equal(expected)
      }), { numRuns: 150 })
  })

  it('allocates separate memory for a row larger than its buffer', () => {
    const long = 'é'.repeat(200_000)
    const texts = ['a', long, 'b', '']
    const batch = new Batch({ source: 's', time: new BigInt64Array(4), fields: [{ name: 'text', type: 'string' }], columns: [texts] })
    const columns = wideColumns(batch, dialect, false).map(column => ({ ...column, kind: dialect.columnTypes[column.type] }))
    const rows = readRows(withoutFrames(new CopyEncoder().messages(columns, [batch])))
    expect(rows.map(cells => String(cells[2]))).to.deep.equal(texts)
  })
})

/** A batch with columns of given types; the same types for all batches of one COPY. */
function batches () {
  const counts = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 20 }) }, { weight: 1, arbitrary: fc.constant(3000) })
  return fc.record({ rows: counts, seed: fc.integer(), line: fc.string({ unit: 'grapheme' }), gaps: fc.boolean() })
    .map(({ rows, seed, line, gaps }) => (/** @type {FieldType[]} */ types) => {
      let state = seed
      const random = () => {
        state = (Math.imul(state, 1664525) + 1013904223) | 0
        return state
      }
      const random64 = () => BigInt.asIntN(64, BigInt(random()) << 32n | BigInt(random() >>> 0))
      const value = (/** @type {FieldType} */ type) => {
        if (type === 'int64') return random64()
        if (type === 'bool') return random() >>> 31
        if (type === 'string') return ['', 'å', '🚀', 'word', 'x'.repeat(300)][Math.abs(random() >> 8) % 5]
        if (type === 'bytes') return Uint8Array.from({ length: Math.abs(random() >> 8) % 5 }, random)
        return random() / 7
      }
      return new Batch({
        source: 'sø',
        time: BigInt64Array.from({ length: rows }, random64),
        fields: types.map((type, i) => ({ name: `${type} ${i}`, type })),
        columns: types.map(type => /** @type {any} */ (COLUMN_TYPES[type]).from({ length: rows }, () => value(type))),
        validity: types.map(() => gaps ? Uint8Array.from({ length: rows }, () => random() >>> 31) : null),
        tags: { line }
      })
    })
}

function fieldTypes () {
  return fc.constantFrom(...(/** @type {FieldType[]} */ (Object.keys(COLUMN_TYPES))))
}

/** @param {FieldType} type @param {Buffer|null} cell */
function decoded (type, cell) {
  if (cell === null) return undefined
  switch (type) {
    case 'float64': return cell.readDoubleBE()
    case 'float32': return cell.readFloatBE()
    case 'int64': return cell.readBigInt64BE()
    case 'int16': return cell.readInt16BE()
    case 'bool': return cell[0] === 1
    case 'string': return cell.toString()
    case 'bytes': return new Uint8Array(cell)
    default: return cell.readInt32BE()
  }
}

/** @param {Iterable<Buffer>} messages  CopyData messages, each overwritten by the next but one */
function withoutFrames (messages) {
  return Buffer.concat(Array.from(messages, message => {
    expect(String.fromCharCode(message[0])).to.equal('d')
    expect(message.readInt32BE(1)).to.equal(message.length - 1)
    return Buffer.from(message.subarray(5))
  }))
}

/** A reader by PostgreSQL's documentation. @param {Buffer} data @returns {(Buffer|null)[][]} */
function readRows (data) {
  expect(data.toString('latin1', 0, 11)).to.equal('PGCOPY\n\xff\r\n\0')
  let at = 19
  const rows = []
  for (let cells; (cells = data.readInt16BE(at)) !== -1;) {
    at += 2
    rows.push(Array.from({ length: cells }, () => {
      const length = data.readInt32BE(at)
      at += 4 + Math.max(length, 0)
      return length === -1 ? null : data.subarray(at - length, at)
    }))
  }
  expect(at + 2).to.equal(data.length)
  return rows
}

/** @param {bigint} value @param {bigint} by */
function floorDivide (value, by) {
  return (value - ((value % by) + by) % by) / by
}
