import { expect } from 'chai'
import { sliceOf } from '../../../gateway/batch/batch.js'
import { ALL_NEW, batchOf, EPOCH, failureOf, identity, rangesOf } from './batches.js'

/** Of databases that store all of a write or nothing. @param {import('./contract.js').Subject} subject */
export function transactionTests (subject) {
  const { it, itWith, open, rows, isTransient, store } = subject

  describe('transactions', () => {
    itWith('checked', 'stores nothing when one batch is refused', async () => {
      const good = batchOf([1], { identity: identity(0) })
      const error = await failureOf(() => store(good, batchOf([1000], { identity: identity(1) })))
      expect(isTransient(error), error.message).to.equal(false)
      expect(await rows('press')).to.deep.equal([])
      expect(rangesOf(await subject.sink.committed())).to.deep.equal([])
      expect(await store(good)).to.deep.equal(ALL_NEW)
    })

    it('leaves nothing of a probe', async () => {
      await store(batchOf([0], { identity: identity(0) }))
      const batch = batchOf([1], { identity: identity(1) })
      expect(await subject.sink.write([batch, batchOf([2])], { probe: true })).to.deep.equal(ALL_NEW)
      expect(rangesOf(await subject.sink.committed())[0].ranges).to.deep.equal([[0, 0]])
      expect(await rows('press')).to.have.length(1)
      expect(await store(batch)).to.deep.equal(ALL_NEW)
    })

    itWith('checked', 'tries each of several slices of one batch in a probe', async () => {
      const batch = batchOf([1, 2, 3, 1000], { identity: identity(0) })
      await subject.sink.prepare([batch])
      expect(await subject.sink.write([sliceOf(batch, 0, 1), sliceOf(batch, 1, 3)], { probe: true })).to.deep.equal(ALL_NEW)
      const error = await failureOf(() => subject.sink.write([sliceOf(batch, 0, 3), sliceOf(batch, 3, 4)], { probe: true }))
      expect(isTransient(error)).to.equal(false)
    })

    const records = async () =>
      (await subject.sink.committed()).records.map(({ epoch, first, last }) => [epoch, first, last])

    it('compacts commit records, and still recognises each batch', async () => {
      const present = [0, 1, 2, 4, 5, 6, 7, 8]
      const batches = present.map(seq => batchOf([seq], { identity: identity(seq) }))
      const old = present.map(seq => batchOf([seq], { identity: { ...EPOCH, epoch: '0-z', seq } }))
      await store(...batches, ...old)
      const before = rangesOf(await subject.sink.committed())
      const heads = [{ ...EPOCH, first: 7, last: 8 }]
      await subject.sink.compact(heads)
      await subject.sink.compact(heads)
      expect(rangesOf(await subject.sink.committed())).to.deep.equal(before)
      expect(await records()).to.have.deep.members([
        ['0-z', 0, 2], ['0-z', 4, 8], ['1-a', 0, 2], ['1-a', 4, 6], ['1-a', 7, 7], ['1-a', 8, 8]
      ])
      expect((await store(...batches, ...old)).duplicates).to.have.length(16)
      expect(await store(batchOf([3], { identity: identity(3) }))).to.deep.equal(ALL_NEW)
      await subject.sink.compact([{ ...EPOCH, first: 9, last: -1 }])
      expect(await records()).to.deep.include(['1-a', 0, 8])
    })

    it('stores one copy of what two write at once', async () => {
      const rival = await open()
      const batches = Array.from({ length: 60 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
      await store(batchOf([-1]))
      await rival.prepare([batches[0]])
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => {
        const group = batches.slice(i * 3, i * 3 + 3)
        return [subject.sink.write(group), rival.write(group.toReversed())]
      }).flat())
      expect(outcomes.reduce((sum, { duplicates }) => sum + duplicates.length, 0)).to.equal(60)
      expect((await rows('press')).map(({ force }) => force)).to.have.members([-1, ...batches.keys()])
    })

    it('stores one copy of what one writes while another writes what it was staged again as', async () => {
      const rival = await open()
      const batches = Array.from({ length: 30 }, (_, seq) => batchOf([seq, seq + 0.5], { identity: { ...identity(seq), hash: 5 } }))
      const again = batches.map((batch, seq) => [0, 1].map(i => batch.slice(i, i + 1).withIdentity({
        ...identity(100 + 2 * seq + i), hash: 6, ancestors: [{ epoch: EPOCH.epoch, seq, hash: 5 }]
      })))
      await store(batchOf([-1]))
      await rival.prepare([batches[0]])
      await Promise.all(batches.flatMap((batch, seq) => {
        const [a, b] = again[seq]
        const rivals = [[b], [a]].map(half => () => rival.write(half))
        return rivals.toSpliced(seq % 3, 0, () => subject.sink.write([batch])).map(write => write())
      }))
      const values = (await rows('press')).map(({ force }) => force)
      expect(values).to.have.members([-1, ...batches.keys(), ...Array.from(batches.keys(), seq => seq + 0.5)])
    })

    it('stores one copy of what two write while records are compacted', async () => {
      const rival = await open()
      const batches = Array.from({ length: 40 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
      await store(batchOf([-1]))
      await rival.prepare([batches[0]])
      const outcomes = await Promise.all(batches.map(async (batch, seq) => {
        const first = await subject.sink.write([batch])
        const [second] = await Promise.all([rival.write([batch]), subject.sink.compact([{ ...EPOCH, first: seq, last: 40 }])])
        return [...first.duplicates, ...second.duplicates]
      }))
      expect(outcomes.flat()).to.have.length(40)
      expect((await rows('press')).map(({ force }) => force)).to.have.members([-1, ...batches.keys()])
      expect(rangesOf(await subject.sink.committed())[0].ranges).to.deep.equal([[0, 39]])
    })
  })
}
