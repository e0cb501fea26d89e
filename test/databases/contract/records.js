import { expect } from 'chai'
import { Batch, marker, pickOf, sliceOf } from '../../../gateway/batch/batch.js'
import { ALL_NEW, at, batchOf, EPOCH, failureOf, identity, rangesOf } from './batches.js'

/** @typedef {import('../../../gateway/batch/batch.js').Identity} Identity */

/** What the records of batches say, so that commits can be verified and rows counted. @param {import('./contract.js').Subject} subject */
export function recordTests (subject) {
  const { it, open, elsewhere, setBack, rows, isTransient, store } = subject

  const recorded = async () => (await subject.sink.committed()).records
  const forces = async () => (await rows('press')).map(({ force }) => force)

  /** Of three rows. @param {number} seq @param {Partial<Identity>} [more] */
  const staged = (seq, more = {}) =>
    batchOf([seq, seq + 0.1, seq + 0.2], { identity: { ...identity(seq), hash: 2 ** 47 + seq, rows: 3, before: 100 + 3 * seq, ...more } })

  describe('commit records', () => {
    it('say which bytes and how many rows were staged, stored, dead, and produced before', async () => {
      const marked = marker(/** @type {Identity} */ (staged(3).identity))
      await store(staged(0), pickOf(staged(1), [0, 2]), pickOf(staged(2), []), marked)
      expect(await recorded()).to.deep.equal([[3, 0], [2, 1], [0, 3], [0, 0]].map(([stored, dead], seq) => (
        { ...EPOCH, first: seq, last: seq, hash: 2 ** 47 + seq, staged: 3, stored, dead, before: 100 + 3 * seq }
      )))
    })

    it('add up when they are compacted', async () => {
      await store(staged(0), sliceOf(staged(1), 0, 1), staged(2), staged(3))
      await subject.sink.compact([{ ...EPOCH, first: 3, last: 3 }])
      const merged = { ...EPOCH, first: 0, last: 2, hash: 2 ** 47 + 3, staged: 9, stored: 7, dead: 2, before: 100 }
      expect((await recorded())[0]).to.deep.equal(merged)
      await store(staged(4))
      await subject.sink.compact([])
      expect(await recorded()).to.deep.equal([{ ...merged, last: 4, hash: 10 + 2 ** 47, staged: 15, stored: 13 }])
    })

    it('tell a batch from another that has taken its identity', async () => {
      const [batch, other] = [staged(0), staged(0, { hash: 5 })]
      await store(batch)
      const before = await recorded()
      expect(await store(other, staged(1))).to.deep.equal({ duplicates: [], clashes: [other] })
      expect((await recorded())[0]).to.deep.equal(before[0])
      expect(await store(batch)).to.deep.equal({ duplicates: [batch], clashes: [] })
      expect(await forces()).to.have.members([0, 0.1, 0.2, 1, 1.1, 1.2])
    })

    it('know rows that were staged again, in parts, under another identity', async () => {
      const ancestors = [{ epoch: '0-z', seq: 8, hash: 1 }, { epoch: EPOCH.epoch, seq: 0, hash: 2 ** 47 }]
      const halves = [10, 11].map(seq => staged(seq, { ancestors }))
      await store(staged(0))
      expect(await store(halves[0])).to.deep.equal({ duplicates: [halves[0]], clashes: [] })
      expect(await store(staged(1), halves[1])).to.deep.equal({ duplicates: [halves[1]], clashes: [] })
      expect(await forces()).to.have.members([0, 0.1, 0.2, 1, 1.1, 1.2])
      expect((await recorded()).map(({ first, hash, staged: rowsStaged, stored, dead, before }) =>
        [first, hash - 2 ** 47, rowsStaged, stored, dead, before])).to.deep.equal([
        [8, 1 - 2 ** 47, 0, 0, 0, 130], [0, 0, 3, 3, 0, 100], [1, 1, 3, 3, 0, 103], [10, 10, 0, 0, 0, 130], [11, 11, 0, 0, 0, 133]
      ])
      const others = [{ epoch: EPOCH.epoch, seq: 0, hash: 99 }, { epoch: '0-z', seq: 9, hash: 1 }]
      expect(await store(staged(12, { ancestors: others })), 'which others were staged as').to.deep.equal(ALL_NEW)
    })

    describe('of a batch that was staged again in halves', () => {
      const [old, ...others] = [1, 0, 2].map(seq => new Batch({ ...staged(seq), time: at(10 * seq, 10 * seq + 1, 10 * seq + 2) }))
      const ancestors = [{ epoch: EPOCH.epoch, seq: 1, hash: 2 ** 47 + 1 }]
      const halfOf = (/** @type {number} */ seq, /** @type {number[]} */ values, /** @type {BigInt64Array} */ time) => batchOf(values, {
        time,
        identity: { ...identity(seq), hash: 2 ** 40 + seq, rows: values.length, before: 100 + seq, ancestors }
      })
      const halves = [halfOf(10, [1], at(10)), halfOf(11, [1.1, 1.2], at(11, 12))]
      const all = [0, 0.1, 0.2, 1, 1.1, 1.2, 2, 2.1, 2.2]

      it('keep the old one out when it comes late', async () => {
        await store(...others)
        expect(await store(...halves)).to.deep.equal(ALL_NEW)
        expect(await store(old)).to.deep.equal({ duplicates: [old], clashes: [] })
        expect(await forces()).to.have.members(all)
        expect((await recorded()).map(({ first, hash, staged: count, stored, dead }) => [first, hash, count, stored, dead])).to.deep.equal([
          [0, 2 ** 47, 3, 3, 0], [1, 2 ** 47 + 1, 0, 0, 0], [2, 2 ** 47 + 2, 3, 3, 0],
          [10, 2 ** 40 + 10, 1, 1, 0], [11, 2 ** 40 + 11, 2, 2, 0]
        ])
      })

      it('keep the old one out, and let the other half in, when it comes between them', async () => {
        await store(...others)
        await store(halves[0])
        expect(await store(old)).to.deep.equal({ duplicates: [old], clashes: [] })
        expect(await store(halves[1])).to.deep.equal(ALL_NEW)
        expect(await forces()).to.have.members(all)
      })

      it('do so after a restart and when they are compacted', async () => {
        await store(...others)
        await store(halves[0])
        await subject.sink.compact([])
        await subject.reopen()
        await subject.sink.committed()
        expect(await store(old)).to.deep.equal({ duplicates: [old], clashes: [] })
        expect(await store(halves[1])).to.deep.equal(ALL_NEW)
        await subject.sink.compact([])
        expect(await store(old, ...halves)).to.deep.equal({ duplicates: [old, ...halves], clashes: [] })
        expect(await forces()).to.have.members(all)
      })

      it('keep the halves out where the old one is stored, whichever come first of what comes together', async () => {
        expect(await store(halves[0], ...others, old)).to.deep.equal({ duplicates: [halves[0]], clashes: [] })
        expect(await store(halves[1])).to.deep.equal({ duplicates: [halves[1]], clashes: [] })
        expect(await forces()).to.have.members(all)
      })
    })

    it('name the database they are in', async () => {
      const { store: name } = await subject.sink.committed()
      expect(name).to.be.a('string').and.to.have.length.above(20)
      const others = await Promise.all([1, 2, 3].map(async () => (await (await open()).committed()).store))
      await store(staged(0))
      await subject.reopen()
      expect([...others, (await subject.sink.committed()).store]).to.deep.equal(Array(4).fill(name))
      if (elsewhere) expect((await (await elsewhere()).committed()).store).not.to.equal(name)
    })

    it('name it once when several look at the same time', async () => {
      const sinks = await Promise.all([1, 2, 3, 4].map(() => open()))
      const names = await Promise.all(sinks.map(async each => (await each.committed()).store))
      expect(new Set(names).size).to.equal(1)
    })

    if (setBack) {
      it('that are gone, as after a restore, stop the next write, and what is missing is stored again', async () => {
        const batches = [0, 1, 2, 3, 4].map(seq => staged(seq))
        for (const batch of batches.slice(0, 4)) await store(batch)
        await setBack(2)
        const error = await failureOf(() => store(batches[4]))
        expect(error.code).to.equal('SLUICE_SINK_SET_BACK')
        expect(isTransient(error)).to.equal(true)
        expect(rangesOf(await subject.sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 1]] }])
        expect(await forces()).to.have.length(6)
        expect((await store(...batches)).duplicates).to.deep.equal(batches.slice(0, 2))
        expect(await forces()).to.have.members(batches.flatMap(({ columns: [values] }) => [.../** @type {Float64Array} */ (values)]))
      })

      it('that are gone stop a write of rows without identity', async () => {
        await store(staged(0))
        await setBack(0)
        expect(await failureOf(() => store(batchOf([7])))).to.have.property('code', 'SLUICE_SINK_SET_BACK')
        expect(await forces()).to.deep.equal([])
        await store(batchOf([7]))
        expect(await forces()).to.deep.equal([7])
      })

      it('that were read and are gone stop the first write', async () => {
        await store(staged(0), staged(1))
        await subject.reopen()
        await subject.sink.committed()
        await setBack(1)
        expect(await failureOf(() => store(staged(2)))).to.have.property('code', 'SLUICE_SINK_SET_BACK')
      })

      it('that a reading has missed already, or that were compacted, stop nothing', async () => {
        await store(staged(0), staged(1))
        await setBack(1)
        expect(await recorded()).to.have.length(1)
        expect(await store(staged(2))).to.deep.equal(ALL_NEW)
        await subject.sink.compact([])
        await store(staged(3))
        await subject.sink.compact([])
        expect(await store(staged(4))).to.deep.equal(ALL_NEW)
      })
    }
  })
}
