import { expect } from 'chai'
import { batchOf, failureOf, identity, rangesOf, T0 } from './batches.js'

const SECOND = 1_000_000_000n
const MICROSECOND = 1000n

/** A batch of five rows, a second apart, that follows the one before. @param {number} seq */
const batchAt = seq => {
  const values = Array.from({ length: 5 }, (_, i) => 5 * seq + i)
  return batchOf(values, { time: BigInt64Array.from(values, value => after(value)), identity: identity(seq) })
}
const after = (/** @type {number} */ seconds) => T0 + BigInt(seconds) * SECOND
const numbers = (/** @type {number} */ from, /** @type {number} */ to) => Array.from({ length: to - from }, (_, i) => from + i)

/**
 * What every sink that removes rows by their age promises.
 *
 * @param {object} harness
 * @param {(options?: object) => Promise<import('../../../gateway/databases/sink.js').Sink>} harness.open  closed after the test
 * @param {(table: string) => Promise<Record<string, unknown>[]>} harness.rows
 * @param {boolean} harness.tells  how many rows it has removed
 * @param {boolean} [harness.removesAll]  at once, however few were asked for
 * @param {readonly string[]} harness.layouts
 * @param {() => Promise<void>} [harness.makeForeign]  creates a table "press" that is not marked as Sluice's, where there are marks
 */
export function retentionContract ({ open, rows, tells, removesAll = !tells, layouts, makeForeign }) {
  /** @param {import('../../../gateway/databases/sink.js').Sink} sink @param {bigint} before @param {number} [maxRows] */
  const removeAll = async (sink, before, maxRows = 100) => {
    await sink.span?.()
    for (let removed = 0; ;) {
      const its = await sink.removeBefore?.(before, { maxRows }) ?? 0
      removed += its
      if (its < maxRows) return removed
    }
  }
  const forces = async (table = 'press') => (await rows(table)).map(({ force }) => force)

  describe('retention', () => {
    it('removes what is too old and nothing else: its batches count as stored, and others go on', async () => {
      const sink = await open()
      const batches = [0, 1, 2, 3].map(batchAt)
      expect(await sink.span?.()).to.equal(null)
      await sink.write(batches)
      const before = await sink.committed()
      const span = await sink.span?.()
      expect([span?.oldest, span?.newest].map(ns => (ns ?? 0n) / MICROSECOND)).to.deep.equal([T0, after(19)].map(ns => ns / MICROSECOND))
      expect(await removeAll(sink, after(7))).to.equal(tells ? 7 : 0)
      expect(await forces()).to.have.members(numbers(7, 20))
      expect(await sink.committed()).to.deep.equal(before)
      expect((await sink.write(batches)).duplicates).to.deep.equal(batches)
      await sink.write([batchAt(4)])
      expect(await forces()).to.have.members(numbers(7, 25))

      const again = await open()
      expect(rangesOf(await again.committed())[0].ranges).to.deep.equal([[0, 4]])
      expect((await again.committed()).records.slice(0, 4)).to.deep.equal(before.records)
      expect((await again.write(batches)).duplicates).to.deep.equal(batches)
      expect(await removeAll(again, after(12))).to.equal(tells ? 5 : 0)
      expect(await forces()).to.have.members(numbers(12, 25))
    })

    it('stores what comes too old, and removes it', async () => {
      const sink = await open()
      await sink.write([batchAt(3)])
      await removeAll(sink, after(15))
      const late = batchAt(0)
      await sink.write([late])
      await sink.compact([])
      expect(await forces()).to.have.members([...numbers(0, 5), ...numbers(15, 20)])
      await removeAll(sink, after(15))
      expect(await forces()).to.have.members(numbers(15, 20))
      const again = await open()
      expect((await again.write([late])).duplicates).to.deep.equal([late])
      expect(await forces()).to.have.members(numbers(15, 20))
    })

    it('removes rows of every source, staged or not, in their tables or in one', async () => {
      for (const table of ['{source}', 'all']) {
        const sink = await open({ table })
        const oven = batchOf([1, 2], { source: 'oven', time: BigInt64Array.of(after(1), after(9)) })
        await sink.write([batchAt(0), batchAt(1), oven])
        await removeAll(sink, after(5))
        const left = table === 'all' ? await forces('all') : [...await forces(), ...await forces('oven')]
        expect(left, table).to.have.members([...numbers(5, 10), 2])
      }
    })

    for (const layout of layouts) {
      it(`removes rows of the layout ${layout}`, async () => {
        const sink = await open({ layout, keepDays: 1 })
        await sink.write([batchAt(0), batchAt(1)])
        await removeAll(sink, after(5) - after(5) % SECOND)
        expect(await rows('press')).to.have.length(5)
        expect(Number((await sink.span?.())?.oldest)).to.be.least(Number(after(4)))
      })
    }

    if (!removesAll) {
      it('removes no more at a time than it is asked to, and goes on where another has left off', async () => {
        const sink = await open()
        await sink.write([0, 1, 2, 3].map(batchAt))
        await sink.span?.()
        expect(await sink.removeBefore?.(after(10), { maxRows: 3 })).to.equal(3)
        expect(await forces()).to.have.length(17).and.to.include.members(numbers(10, 20))
        await sink.close()
        const again = await open()
        expect(await removeAll(again, after(10), 3)).to.equal(7)
        expect(await forces()).to.have.members(numbers(10, 20))
      })
    }

    if (makeForeign) {
      it('removes no rows from a table that Sluice did not make, and says so', async () => {
        await makeForeign()
        const sink = await open({ table: 'press' })
        await sink.write([batchAt(0)])
        expect((await failureOf(async () => sink.span?.())).code).to.equal('SLUICE_SINK_NOT_OWNED')
        expect(await sink.removeBefore?.(after(100), { maxRows: 100 })).to.equal(0)
        expect(await forces()).to.have.members(numbers(0, 5))
      })
    }
  })
}
