import { expect } from 'chai'
import fc from 'fast-check'
import { committedRanges, mergedRecords } from '../../gateway/databases/commit-records.js'

const EPOCH = { gateway: 'gw', source: 'press', epoch: '1-a' }

/** @param {[number, number][]} ranges */
const records = ranges => ranges.map(([seq, last]) => ({ table: 'press', ...EPOCH, seq, last }))

describe('Commit records', () => {
  it('are merged below what the spool holds, gaps excepted', () => {
    const rows = records([[0, 4], [5, 5], [6, 6], [8, 8], [9, 9], [10, 10], [11, 11]])
    expect(mergedRecords(rows, [{ ...EPOCH, first: 10, last: 11 }])).to.deep.equal(records([[0, 6], [8, 9]]))
    expect(mergedRecords(rows, [])).to.deep.equal(records([[0, 6], [8, 11]]))
    expect(mergedRecords(rows, [{ ...EPOCH, first: 0, last: 11 }])).to.deep.equal([])
    expect(mergedRecords(records([[0, 6], [8, 8]]), [])).to.deep.equal([])
  })

  it('report the same ranges after merging', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 60 })),
      fc.integer({ min: 0, max: 60 }),
      fc.boolean(),
      (seqs, first, isHeld) => {
        const rows = records(seqs.map(seq => [seq, seq]))
        const merged = mergedRecords(rows, isHeld ? [{ ...EPOCH, first, last: 60 }] : [])
        const within = (/** @type {{seq: number}} */ { seq }) => merged.some(range => range.seq <= seq && seq <= range.last)
        const after = [...rows.filter(row => !within(row)), ...merged]
        expect(committedRanges(after)).to.deep.equal(committedRanges(rows))
        if (!isHeld && rows.length > 0) expect(after).to.have.length(committedRanges(rows)[0].ranges.length)
        for (const { last } of merged) expect(!isHeld || last < first).to.equal(true)
      }), { numRuns: 500 })
  })
})
