import { expect } from 'chai'
import { Batch, pickOf, sliceOf } from '../../gateway/batch/batch.js'

const batch = new Batch({
  source: 'press',
  time: new BigInt64Array([1n, 2n, 3n]),
  fields: [{ name: 'value', type: 'float64' }],
  columns: [new Float64Array([10, 20, 30])],
  identity: { gateway: 'gw', source: 'press', epoch: '1-aaaaaaaa', seq: 7 }
})

describe('A part of a batch', () => {
  it('has no identity: the second of two parts would be dropped as a duplicate of the first', () => {
    for (const part of [batch.slice(0, 2), batch.slice(2, 3), batch.pick([2, 0]), batch.slice(0, 3)]) expect(part.identity).to.equal(null)
    expect([...batch.pick([2, 0]).columns[0]]).to.deep.equal([30, 10])
  })

  it('keeps the identity for the writer, which stores it instead of the batch', () => {
    for (const part of [sliceOf(batch, 0, 2), pickOf(batch, [0, 1])]) {
      expect(part.identity).to.equal(batch.identity)
      expect([...part.columns[0]]).to.deep.equal([10, 20])
    }
  })

  it('knows which rows of the whole it has, however often it was cut', () => {
    const part = batch.slice(1, 3).pick([1])
    expect(part.origin?.whole).to.equal(batch)
    expect(part.rowNumber(0)).to.equal(2)
  })
})
