import { expect } from 'chai'
import { marker, pickOf, sliceOf } from '../../gateway/batch/batch.js'
import { decide, wantedRecords } from '../../gateway/databases/claims.js'
import { RecordSet } from '../../gateway/databases/record-set.js'
import { batchOf, EPOCH, identity } from './contract/batches.js'

const OLD = { epoch: '0-z', seq: 4, hash: 11 }

/** @param {Batch[]} batches @param {RecordSet} [set] @param {boolean} [probe] */
const claim = (batches, set = new RecordSet(), probe = false) =>
  decide(batches, wantedRecords(batches, source => `table of ${source}`), wanted => set.find(wanted), probe)

/** @param {Batch[]} batches */
const stored = (...batches) => {
  const set = new RecordSet()
  for (const record of claim(batches).records) set.add(record)
  return set
}

/** @param {object} more  of the identity @param {number} [seq] */
const batchWith = (more, seq = 0) => batchOf([1, 2, 3], { identity: { ...identity(seq), ...more } })

/** @typedef {import('../../gateway/batch/batch.js').Batch} Batch */

describe('The claim of a batch', () => {
  it('leaves a record of its rows, and of those that are missing', () => {
    const more = { hash: 7, rows: 3, before: 100 }
    const whole = batchWith(more)
    const recordOf = (/** @type {Batch} */ batch) => {
      const [{ table, hash, staged, stored: kept, dead, before }] = claim([batch]).records
      return [table, hash, staged, kept, dead, before]
    }
    expect(recordOf(whole)).to.deep.equal(['table of press', 7, 3, 3, 0, 100])
    expect(recordOf(pickOf(whole, [0, 2])), 'a dead letter').to.deep.equal(['table of press', 7, 3, 2, 1, 100])
    expect(recordOf(pickOf(whole, [])), 'all of them').to.deep.equal(['table of press', 7, 3, 0, 3, 100])
    expect(recordOf(marker({ ...identity(0), ...more })), 'settled by a flow').to.deep.equal(['table of press', 7, 3, 0, 0, 100])
    expect(recordOf(sliceOf(batchWith({}), 1, 2)), 'of an identity alone').to.deep.equal(['table of press', 0, 3, 1, 2, 0])
  })

  it('is a duplicate where the same bytes are stored, and a clash where others are', () => {
    const [batch, same, other] = [7, 7, 8].map(hash => batchWith({ hash }))
    expect(claim([same, other], stored(batch))).to.deep.equal({ fresh: [], duplicates: [same], clashes: [other], records: [], moved: [] })
    const within = claim([batch, same, other])
    expect([within.fresh, within.duplicates, within.clashes]).to.deep.equal([[batch], [same], [other]])
    expect(within.records).to.have.length(1)
  })

  it('takes what a merged record covers for the same', () => {
    const set = stored(batchWith({ hash: 7 }, 0), batchWith({ hash: 8 }, 1))
    set.compact([], () => true)
    const other = batchWith({ hash: 9 }, 1)
    expect(claim([other], set).duplicates).to.deep.equal([other])
  })

  it('is a duplicate where its rows are stored under an earlier identity, and counts none', () => {
    const old = batchWith(OLD)
    const again = batchWith({ hash: 12, rows: 3, ancestors: [OLD] })
    const afterOld = claim([again], stored(old))
    expect(afterOld.duplicates).to.deep.equal([again])
    expect(afterOld.records).to.deep.equal([{
      table: 'table of press', ...EPOCH, seq: 0, last: 0, hash: 12, staged: 0, stored: 0, dead: 0, before: 0
    }])
    expect(afterOld.moved).to.deep.equal(afterOld.records)
    expect(claim([again], stored(batchWith({ ...OLD, hash: 99 }))).fresh, 'which another batch had taken').to.deep.equal([again])
    const together = claim([again, old])
    expect([together.fresh, together.duplicates], 'in one write').to.deep.equal([[old], [again]])
  })

  it('tries every slice of a batch in a probe', () => {
    const batch = batchWith({ hash: 7 })
    const slices = [sliceOf(batch, 0, 1), sliceOf(batch, 1, 2)]
    expect(claim(slices, undefined, true).fresh).to.deep.equal(slices)
    expect(claim(slices, stored(batch), true).duplicates).to.deep.equal(slices)
  })
})
