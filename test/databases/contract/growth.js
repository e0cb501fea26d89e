import { expect } from 'chai'
import { batchOf, rangesOf, rowOf, T0 } from './batches.js'

/** @param {import('./contract.js').Subject} subject */
export function growthTests (subject) {
  const { it, open, rows, tables, store, refusal } = subject

  describe('names and growth', () => {
    it('adds columns as fields and tags appear', async () => {
      await store(rowOf({ a: ['float64', 1] }))
      await store(rowOf({ b: ['string', 'x'] }, { time: BigInt64Array.of(T0 + 1n), tags: { line: '1' } }))
      await store(rowOf({ a: ['float64', 2] }, { time: BigInt64Array.of(T0 + 2n) }))
      expect(await rows('press')).to.deep.equal([
        { time: T0, a: 1, line: null, b: null }, { time: T0 + 1n, a: null, line: '1', b: 'x' }, { time: T0 + 2n, a: 2, line: null, b: null }
      ])
    })

    it('keeps sources apart in separate tables, or by a column', async () => {
      const others = ['a', 'A', 'ä', 'a b/c.d', 'select', 'a_time']
      const batches = others.map((source, i) => batchOf([i], { source }))
      await store(...batches)
      expect(await tables()).to.have.length(others.length)
      for (const [i, source] of others.entries()) {
        if (source !== 'A') expect((await rows(source))[0].force, source).to.equal(i)
      }

      const shared = await open({ table: 'all of them' })
      await shared.prepare(batches)
      await shared.write(batches)
      const stored = (await rows('all of them')).map(({ source, force }) => [source, force])
      expect(stored).to.have.deep.members(others.map((source, i) => [source, i]))
    })

    it('keeps fields and tags of the same name apart', async () => {
      const fields = { time: ['float64', 1], source: ['string', 's'], line: ['int32', 2], Line: ['int32', 3] }
      await store(rowOf(/** @type {any} */ (fields), { tags: { time: 't', line: 'L' } }))
      expect(await rows('press')).to.deep.equal([{
        time: T0,
        'time~tag': 't',
        'line~tag': 'L',
        'time~field': 1,
        'source~field': 's',
        line: 2,
        [subject.ignoresCase ? 'Line~8' : 'Line']: 3
      }])
      await store(rowOf({ Line: ['int32', 4] }, { time: BigInt64Array.of(T0 + 1n) }))
      expect((await rows('press'))[1]).to.include({ line: null, [subject.ignoresCase ? 'Line~8' : 'Line']: 4 })
    })

    it('stores under names that look like SQL', async () => {
      const evil = 'x"; DROP TABLE press; --'
      const identity = { gateway: evil, source: evil, epoch: evil, seq: 0 }
      const more = { source: evil, tags: { [`${evil}$1`]: evil }, identity }
      await store(batchOf([1]), rowOf({ [evil]: ['string', '\'); DROP TABLE press; --'] }, more))
      expect(await rows(evil)).to.deep.equal([{ time: T0, [`${evil}$1`]: evil, [evil]: '\'); DROP TABLE press; --' }])
      expect(await rows('press')).to.have.length(1)
      expect(rangesOf(await subject.sink.committed())[0].source).to.equal(evil)
    })

    it('stores under names that every object has', async () => {
      const names = ['constructor', 'toString', 'hasOwnProperty']
      const tags = Object.fromEntries(names.map(name => [`${name}$1`, name]))
      await store(rowOf(Object.fromEntries(names.map((name, i) => [name, ['float64', i]])), { tags }))
      expect(await rows('press')).to.deep.equal([{ time: T0, ...tags, ...Object.fromEntries(names.map((name, i) => [name, i])) }])
    })

    for (const [what, name, text] of [
      ['of 10,000 characters', 'n'.repeat(10_000), /10000 bytes/], ['with NUL', 'a\0b', /NUL/], ['that is not Unicode', '\ud800', /Unicode/]
    ]) {
      it(`refuses a name ${what}`, async () => {
        const { message } = await refusal(batchOf([1], { source: String(name) }))
        expect(message).to.match(/** @type {RegExp} */ (text)).and.to.have.length.below(300)
        expect((await refusal(rowOf({ [String(name)]: ['float64', 1] }))).code).to.equal('SLUICE_SINK_IDENTIFIER')
        expect(await tables()).to.deep.equal([])
      })
    }

    it('refuses the table of its own records, and a field without a name', async () => {
      expect((await refusal(batchOf([1], { source: 'sluice_commits' }))).code).to.equal('SLUICE_SINK_IDENTIFIER')
      expect((await refusal(rowOf({ '': ['float64', 1] }))).message).to.match(/empty/)
    })

    it('can be prepared by several at once', async () => {
      const sinks = await Promise.all(Array.from({ length: 4 }, () => open()))
      await Promise.all(sinks.map((each, i) => each.prepare([rowOf({ common: ['float64', 1], [`own${i}`]: ['float64', 1] })])))
      await store(rowOf({ common: ['float64', 1] }))
      expect(Object.keys((await rows('press'))[0])).to.have.members(['time', 'common', 'own0', 'own1', 'own2', 'own3'])
    })
  })
}
