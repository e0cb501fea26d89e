import { expect } from 'chai'
import { LastRecords } from '../../gateway/databases/set-back.js'
import { EPOCH } from './contract/batches.js'

/** @param {number} seq @param {object} [more] */
const record = (seq, more) =>
  ({ table: 'press', ...EPOCH, seq, last: seq, hash: 0, staged: 1, stored: 1, dead: 0, before: seq, ...more })

/** @param {LastRecords} last */
const seqs = last => last.all.map(({ seq }) => seq).sort()

describe('The last records of a sink', () => {
  it('are those of which none is known to be older than another', () => {
    const last = new LastRecords()
    last.committed(last.all, [record(0)])
    const [first, second] = [last.all, last.all] // two transactions side by side: either may have committed last
    last.committed(first, [record(1), record(2)])
    last.committed(second, [record(3)])
    expect(seqs(last)).to.deep.equal([2, 3])
    last.committed(last.all, [record(4)])
    expect(seqs(last)).to.deep.equal([4])
    last.committed(last.all, []) // all were duplicates
    expect(seqs(last)).to.deep.equal([4])
  })

  it('are those that a reading has, but for what was committed meanwhile', () => {
    const last = new LastRecords()
    last.committed([], [record(4)])
    const before = last.all
    last.committed(before, [record(5)])
    last.read(before, [record(4)])
    expect(seqs(last)).to.deep.equal([5])
    last.read(last.all, [record(3, { seq: 0 }), record(9, { epoch: '0-z' })])
    expect(seqs(last), 'and the newest where it has none of them').to.deep.equal([0])
  })
})
