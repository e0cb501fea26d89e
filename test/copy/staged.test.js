import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Spool } from '../../broker/spool/spool.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { isBehind, stagedIn } from '../../gateway/copy/staged.js'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { batchOf } from '../databases/contract/batches.js'

describe('sluice copy: what is on its way', () => {
  /** @param {string} epoch @param {number} first @param {number} last @param {number} [staged] */
  const record = (epoch, first, last, staged = 1) => (
    { gateway: 'gw', source: 'press', epoch, first, last, staged, stored: staged, hash: 0, dead: 0, before: 0 }
  )
  /** @param {Record<string, [number, number][]>} held */
  const staged = held => new Map(Object.entries(held).map(([epoch, ranges]) => [epoch, new RangeSet(ranges)]))

  it('is what lies between the target\'s batches, or before them in a spool; what is newer may come', () => {
    const cases = /** @type {[any[], Record<string, [number, number][]>, boolean][]} */ ([
      [[record('2-a', 5, 9)], {}, false],
      [[record('2-a', 5, 9)], { '2-a': [[5, 20]] }, false],
      [[record('2-a', 5, 6), record('2-a', 8, 9)], {}, true],
      [[record('2-a', 5, 9)], { '2-a': [[4, 20]] }, true],
      [[record('2-a', 0, 9)], { '1-a': [[100, 100]] }, true],
      [[record('2-a', 0, 9)], { '3-a': [[0, 5]] }, false],
      [[record('1-a', 100, 100), record('2-a', 0, 9)], { '1-a': [[100, 100]] }, false],
      [[record('1-a', 3, 3, 0), record('1-a', 9, 9, 0), record('2-a', 0, 9)], {}, false]
    ])
    for (const [records, held, expected] of cases) {
      expect(isBehind(records, staged(held)), JSON.stringify([records.map(({ epoch, first, last }) => [epoch, first, last]), held]))
        .to.equal(expected)
    }
  })

  it('is read from the spools, while they are written to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-staged-'))
    try {
      expect(await stagedIn(folder, 'press')).to.deep.equal(new Map())
      const spool = await Spool.open({ folder: join(folder, 'sluice', 'spool', 'out'), gateway: 'gw', encode })
      for (let i = 0; i < 3; i++) await spool.append(batchOf([i]))
      await spool.append(batchOf([0], { source: 'oven' }))
      const [[, seqs], ...others] = [...await stagedIn(folder, 'press')]
      expect([seqs.ranges, others]).to.deep.equal([[[0, 2]], []])
      await spool.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
