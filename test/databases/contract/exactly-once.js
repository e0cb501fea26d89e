import { expect } from 'chai'
import { marker } from '../../../gateway/batch/batch.js'
import { Numbering } from '../../../gateway/batch/numbering.js'
import { decode, encode } from '../../../gateway/messages/codecs/arrow/arrow.js'
import { ALL_NEW, batchOf, EPOCH, failureOf, identity, rangesOf } from './batches.js'

/** @param {import('./contract.js').Subject} subject */
export function exactlyOnceTests (subject) {
  const { it, open, rows, tables, store } = subject

  describe('exactly once', () => {
    it('leaves out batches it has already', async () => {
      const [a, b, c] = [0, 1, 2].map(seq => batchOf([seq], { identity: identity(seq) }))
      expect(await store(a, b)).to.deep.equal(ALL_NEW)
      expect((await store(b, c)).duplicates).to.deep.equal([b])
      expect((await rows('press')).map(({ force }) => force)).to.have.members([0, 1, 2])
    })

    it('stores the same batch once when it comes twice in one write', async () => {
      const batch = batchOf([1], { identity: identity(0) })
      const again = batchOf([1], { identity: identity(0) })
      const { duplicates } = await store(batch, again)
      expect(duplicates).to.have.length(1)
      expect(duplicates[0]).to.equal(again)
      expect(await rows('press')).to.have.length(1)
    })

    it('stores rows of the same tags and time that come in different batches, and each once when they come again', async () => {
      const numbering = new Numbering()
      const tags = { device: 'a' }
      const batches = [0, 1].map(seq => {
        return decode(encode(numbering.numbered(batchOf([seq], { tags })).withIdentity({ ...identity(seq), rows: 1, before: seq })))
      })
      for (const batch of batches) await store(batch)
      await subject.reopen()
      expect((await store(...batches)).duplicates).to.have.length(2)
      expect((await rows('press')).map(({ force, device }) => [force, device])).to.have.deep.members([[0, 'a'], [1, 'a']])
    })

    it('stores every batch without identity', async () => {
      await store(batchOf([1]), batchOf([1]))
      await store(batchOf([1]))
      expect(await rows('press')).to.have.length(3)
      expect(rangesOf(await subject.sink.committed())).to.deep.equal([])
    })

    it('stores only the commit record of a marker', async () => {
      const batch = marker(identity(3))
      expect(await store(batch)).to.deep.equal(ALL_NEW)
      expect((await store(batch)).duplicates).to.deep.equal([batch])
      expect(rangesOf(await subject.sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[3, 3]] }])
      expect(await tables()).to.deep.equal([])
    })

    it('stores a marker even where no table can be created', async () => {
      const source = 'n'.repeat(1100)
      await store(marker({ ...EPOCH, source, seq: 0 }))
      expect(rangesOf(await subject.sink.committed())[0]).to.include({ source })
    })

    it('reports what it has committed, by gateway, source and epoch', async () => {
      const epochs = [
        { gateway: 'gw', source: 'press', epoch: '2-b' },
        { gateway: 'gw', source: 'oven', epoch: '1-a' },
        { gateway: 'gv', source: 'press', epoch: '1-a' },
        EPOCH
      ]
      for (const seq of [5, 0, 1, 3, 4]) {
        await store(...epochs.map(epoch => batchOf([1], { source: epoch.source, identity: { ...epoch, seq } })))
      }
      const ranges = [[0, 1], [3, 5]]
      expect(rangesOf(await subject.sink.committed())).to.deep.equal([
        { gateway: 'gv', source: 'press', epoch: '1-a', ranges }, { gateway: 'gw', source: 'oven', epoch: '1-a', ranges },
        { gateway: 'gw', source: 'press', epoch: '1-a', ranges }, { gateway: 'gw', source: 'press', epoch: '2-b', ranges }
      ])
    })

    it('keeps the commit records of each table apart', async () => {
      const batch = batchOf([1], { identity: identity(0) })
      await store(batch)
      const other = await open({ table: 'copy of {source}' })
      expect(rangesOf(await other.committed())).to.deep.equal([])
      await other.prepare([batch])
      expect(await other.write([batch])).to.deep.equal(ALL_NEW)
      expect(await other.committed()).to.deep.equal(await subject.sink.committed())
    })

    it('still recognises each batch when records are compacted', async () => {
      const present = [0, 1, 2, 4, 5, 6, 7, 8]
      const batches = present.map(seq => batchOf([seq], { identity: identity(seq) }))
      await store(...batches)
      const before = rangesOf(await subject.sink.committed())
      for (let i = 0; i < 2; i++) await subject.sink.compact([{ ...EPOCH, first: 7, last: 8 }])
      expect(rangesOf(await subject.sink.committed())).to.deep.equal(before)
      await subject.reopen()
      expect(rangesOf(await subject.sink.committed())).to.deep.equal(before)
      expect((await store(...batches)).duplicates).to.have.length(8)
      expect(await store(batchOf([3], { identity: identity(3) }))).to.deep.equal(ALL_NEW)
      expect((await rows('press')).map(({ force }) => force)).to.have.members([...present, 3])
    })

    it('keeps everything when it is opened again', async () => {
      const batch = batchOf([1], { identity: identity(0) })
      await store(batch)
      await subject.reopen()
      expect(rangesOf(await subject.sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
      expect((await store(batch)).duplicates).to.deep.equal([batch])
      expect(await rows('press')).to.have.length(1)
    })

    it('refuses what has been aborted', async () => {
      const abort = new AbortController()
      await subject.sink.prepare([batchOf([1])])
      abort.abort(new Error('closing'))
      expect((await failureOf(() => subject.sink.write([batchOf([1])], { signal: abort.signal }))).message).to.equal('closing')
      expect(await rows('press')).to.deep.equal([])
    })
  })
}
