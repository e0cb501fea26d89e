import * as apache from 'apache-arrow'
import { expect } from 'chai'
import fc from 'fast-check'
import { SluiceError } from '../../../gateway/base/errors.js'
import * as arrow from '../../../gateway/messages/codecs/arrow/arrow.js'
import { stream, times } from './apache.js'
import { NOW } from './batches.js'
import { decode } from './decode.js'

/** @typedef {import('../../../gateway/batch/batch.js').Batch} Batch */

/** @param {unknown[]} lists */
const doubles = lists => apache.vectorFromArray(lists, new apache.List(new apache.Field('item', new apache.Float64(), true)))
/** @param {number} rows */
const timesOf = rows => times(Array.from({ length: rows }, (_, row) => NOW + BigInt(row)))

/** Without their times. @param {Batch} batch */
const rowsOf = batch => batch.toObjects().map(({ time: _time, ...values }) => values)

/** @param {Record<string, apache.Vector>} columns */
function read (columns) {
  const { batches: [batch], refused } = decode(stream(columns))
  return { rows: rowsOf(batch), refused: refused.map(({ index, reason }) => `${index}: ${reason}`) }
}

describe('Arrow lists', () => {
  it('become fields with numbers, as many as the longest of all record batches has', () => {
    const part = (/** @type {unknown[]} */ lists) => new apache.Table({ time: timesOf(lists.length), a: doubles(lists) })
    const whole = part([[1], null]).concat(part([[2, null, 3], [], [4, 5]]))
    const { batches: [batch] } = decode(Buffer.from(apache.tableToIPC(whole, 'stream')))
    expect(batch.fields).to.deep.equal(['a0', 'a1', 'a2'].map(name => ({ name, type: 'float64' })))
    expect(rowsOf(batch)).to.deep.equal([{ a0: 1 }, {}, { a0: 2, a2: 3 }, {}, { a0: 4, a1: 5 }])
  })

  it('have the fields that arrays in JSON have', () => {
    const { rows } = read({ time: timesOf(1), a: doubles([[1, 2]]), b: apache.vectorFromArray([3]) })
    const { batches: [json] } = decode({ ts: Number(NOW / 1_000_000n), a: [1, 2], b: 3 })
    expect(rows).to.deep.equal(rowsOf(json))
  })

  it('with more elements than a row has fields are refused, and the other columns stored', () => {
    const wide = Array.from({ length: 1000 }, (_, i) => i)
    expect(read({ time: timesOf(2), b: apache.vectorFromArray([1, 2]), a: doubles([wide, []]), c: doubles([[1], [2]]) })).to.deep.equal({
      rows: [{ b: 1, c0: 1 }, { b: 2, c0: 2 }],
      refused: ['-1: column "a" is a list: with its 1000 values the row would have more than 1000 fields']
    })
    expect(read({ time: timesOf(1), a: doubles([wide]) }).rows[0]).to.have.property('a999', 999)
  })

  it('of one field in a row beside a very long one in another are refused before they take the memory', () => {
    const lists = Array.from({ length: 100_000 }, (_, row) => row === 0 ? Array.from({ length: 900 }, (__, i) => i) : [])
    const ones = apache.vectorFromArray(lists.map(() => 1))
    const { rows, refused: [reason, ...others] } = read({ time: timesOf(100_000), a: doubles(lists), b: ones })
    expect(reason).to.include('-1: column "a" is a list').and.to.include('its rows × fields are over')
    expect(others).to.deep.equal([])
    expect(rows).to.have.length(100_000)
  })

  it('whose element would have the name of another field are refused', () => {
    expect(read({ time: timesOf(1), a: doubles([[1, 2]]), a1: apache.vectorFromArray([3]) })).to.deep.equal({
      rows: [{ a1: 3 }], refused: ['-1: column "a" is a list: two fields would be called "a1"']
    })
  })

  it('may be called "time"', () => {
    const { rows } = read({ ts: timesOf(1), time: doubles([[1]]) })
    expect(rows).to.deep.equal([{ time0: 1 }])
  })

  it('are read or refused, whatever the bytes are', () => {
    const whole = stream({
      time: timesOf(3), a: doubles([[1, 2], null, [3]]),
      b: apache.vectorFromArray([['x'], [], null], new apache.List(new apache.Field('item', new apache.Utf8(), true)))
    })
    expect(arrow.decode(whole, { source: 's' }).fields).to.have.length(3)
    const anyChange = fc.record({ at: fc.nat(whole.length - 1), byte: fc.constantFrom(0, 1, 127, 255) })
    fc.assert(fc.property(fc.array(anyChange, { minLength: 1, maxLength: 4 }), changes => {
      const bytes = Buffer.from(whole)
      for (const { at, byte } of changes) bytes[at] = byte
      try {
        arrow.decode(bytes, { source: 's', onRefused: () => {} })
      } catch (error) {
        expect(error).to.be.instanceOf(SluiceError)
        expect(error).to.have.property('code').that.is.oneOf(['SLUICE_CODEC_ARROW', 'SLUICE_MESSAGE_TOO_LARGE'])
      }
    }), { numRuns: 10_000 })
  })
})
