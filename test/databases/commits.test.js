import { expect } from 'chai'
import fc from 'fast-check'
import { addHashes } from '../../gateway/batch/hashes.js'
import { committedRecords, mergedRecords } from '../../gateway/databases/commit-records.js'
import { RecordSet } from '../../gateway/databases/record-set.js'

const EPOCH = { gateway: 'gw', source: 'press', epoch: '1-a' }

/** @param {number} seq */
const record = seq => ({
  table: 'press', ...EPOCH, seq, last: seq, hash: 2 ** 47 + seq, staged: 10, stored: 7, dead: seq % 3, before: 10 * seq
})

/** As if batches were merged. @param {[number, number][]} ranges */
const records = ranges => ranges.map(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => record(first + i))
  .reduce((a, b) => ({
    ...a, last: b.last, hash: addHashes(a.hash, b.hash), staged: a.staged + b.staged, stored: a.stored + b.stored, dead: a.dead + b.dead
  })))

describe('Commit records', () => {
  it('are merged below what the spool holds, gaps excepted', () => {
    const rows = records([[0, 4], [5, 5], [6, 6], [8, 8], [9, 9], [10, 10], [11, 11]])
    expect(mergedRecords(rows, [{ ...EPOCH, first: 10, last: 11 }])).to.deep.equal(records([[0, 6], [8, 9]]))
    expect(mergedRecords(rows, [])).to.deep.equal(records([[0, 6], [8, 11]]))
    expect(mergedRecords(rows, [{ ...EPOCH, first: 0, last: 11 }])).to.deep.equal([])
    expect(mergedRecords(records([[0, 6], [8, 8]]), [])).to.deep.equal([])
  })

  it('are merged over gaps from where nothing is missing, and over none before that', () => {
    const rows = records([[0, 0], [10, 10], [20, 20], [30, 30]])
    const ranges = (/** @type {number} */ sparseFrom) => {
      return mergedRecords(rows, [{ ...EPOCH, first: 40, last: 40, sparseFrom }]).map(({ seq, last }) => [seq, last])
    }
    expect(ranges(0)).to.deep.equal([[0, 30]])
    expect(ranges(11)).to.deep.equal([[10, 30]])
    expect(ranges(12)).to.deep.equal([[20, 30]])
    expect(ranges(40)).to.deep.equal([])
  })

  it('that count no rows are merged with each other alone: they are no proof that rows are stored', () => {
    const rows = [0, 1, 2, 3, 4, 5].map(record).map(row => [2, 3].includes(row.seq) ? { ...row, staged: 0, stored: 0, dead: 0 } : row)
    expect(mergedRecords(rows, []).map(({ seq, last, staged }) => [seq, last, staged])).to.deep.equal([[0, 1, 20], [2, 3, 0], [4, 5, 20]])
  })

  it('have the same sums after merging', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 60 })),
      fc.integer({ min: 0, max: 60 }),
      fc.boolean(),
      (seqs, first, isHeld) => {
        const rows = seqs.map(record)
        const merged = mergedRecords(rows, isHeld ? [{ ...EPOCH, first, last: 60 }] : [])
        const within = (/** @type {{seq: number}} */ { seq }) => merged.some(range => range.seq <= seq && seq <= range.last)
        const after = [...rows.filter(row => !within(row)), ...merged]
        expect(mergedRecords(after, [])).to.deep.equal(isHeld ? mergedRecords(after, []) : [])
        expect(after.reduce((sum, { seq, last }) => sum + last - seq + 1, 0)).to.equal(seqs.length)
        for (const range of merged) {
          expect(range).to.deep.equal(records([[range.seq, range.last]])[0])
          expect(!isHeld || range.last < first).to.equal(true)
        }
      }), { numRuns: 500 })
  })

  it('are reported in the order of their epochs, without those that a merged one has taken the place of', () => {
    const of = (/** @type {string} */ epoch) => ({ ...record(3), epoch })
    const reported = committedRecords([of('10-a'), of('9-b'), ...records([[0, 4], [5, 5]]), of('1-a')])
    expect(reported.map(({ epoch, first, last }) => [epoch, first, last])).to.deep.equal([
      ['1-a', 0, 4], ['1-a', 5, 5], ['9-b', 3, 3], ['10-a', 3, 3]
    ])
  })

  it('are found in memory, single or merged', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 40 })), fc.integer({ min: 0, max: 40 }), (seqs, first) => {
      const set = new RecordSet()
      for (const seq of seqs) set.add(record(seq))
      set.compact([{ ...EPOCH, first, last: 40 }], () => true)
      for (let seq = 0; seq <= 40; seq++) {
        const found = set.find({ table: 'press', ...EPOCH, seq })
        expect(found !== undefined && found.seq <= seq && seq <= found.last).to.equal(seqs.includes(seq))
      }
      expect(set.find({ table: 'other', ...EPOCH, seq: seqs[0] })).to.equal(undefined)
      expect(set.committed(() => true).reduce((sum, { staged }) => sum + staged, 0)).to.equal(seqs.length * 10)
    }), { numRuns: 200 })
  })
})
