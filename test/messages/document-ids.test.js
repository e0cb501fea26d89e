import { expect } from 'chai'
import { Binary, ObjectId } from 'mongodb'
import { toBatches } from '../../gateway/messages/payload.js'

const MS = 1_436_509_052_249
const NS = 1_436_509_052_249_000_000n

/** The row that a document becomes. @param {object} document */
function rowOf (document) {
  const { batches: [batch], refused } = toBatches({ collection: 'plant', payload: document }, { now: () => NS })
  expect(refused).to.deep.equal([])
  return batch.toObjects()[0]
}

describe('The _id of a document', () => {
  it('is kept, an ObjectId as its text', () => {
    const id = new ObjectId('0123456789abcdef01234567')
    expect(rowOf({ _id: id, a: 1 })).to.deep.equal({ time: NS, _id: id.toHexString(), a: 1 })
    expect(rowOf({ _id: 7, a: 1 })).to.deep.equal({ time: NS, _id: 7, a: 1 })
    expect(rowOf({ _id: { line: 4 }, a: 1 })).to.deep.equal({ time: NS, '_id.line': 4, a: 1 })
  })

  it('is not, where the MongoDB sink gave it: it names another batch', () => {
    const ours = { _id: new Binary(Buffer.alloc(20)), time: new Date(MS), time_ns: NS, source: 's', a: 1 }
    expect(rowOf(ours)).to.deep.equal({ time: NS, time_ns: NS, source: 's', a: 1 })
  })
})
