import { expect } from 'chai'
import { Batch } from '../../../gateway/batch/batch.js'
import { batchOf, identity, rowOf, T0 } from './batches.js'

/** @typedef {import('../../../gateway/batch/batch.js').FieldType} FieldType */

/** @param {import('./contract.js').Subject} subject */
export function valueTests (subject) {
  const { it, rows, store } = subject

  describe('values', () => {
    it('stores every type at its extremes', async () => {
      await store(rowOf({
        f64: ['float64', -Number.MAX_VALUE],
        tiny: ['float64', Number.MIN_VALUE],
        third: ['float64', 1 / 3],
        f32: ['float32', Math.fround(0.1)],
        most: ['int64', 2n ** 63n - 1n],
        least: ['int64', -(2n ** 63n)],
        i32: ['int32', -2147483648],
        i16: ['int16', -32768],
        u16: ['uint16', 65535],
        yes: ['bool', 1],
        no: ['bool', 0],
        text: ['string', 'Grüße 🚀 \'"\\ \n\t'],
        noText: ['string', ''],
        bytes: ['bytes', Uint8Array.of(0, 255, 10)],
        noBytes: ['bytes', new Uint8Array(0)]
      }))
      expect(await rows('press')).to.deep.equal([{
        time: T0,
        f64: -Number.MAX_VALUE,
        tiny: Number.MIN_VALUE,
        third: 1 / 3,
        f32: Math.fround(0.1),
        most: 2n ** 63n - 1n,
        least: -(2n ** 63n),
        i32: -2147483648,
        i16: -32768,
        u16: 65535,
        yes: 1,
        no: 0,
        text: 'Grüße 🚀 \'"\\ \n\t',
        noText: '',
        bytes: '0x00ff0a',
        noBytes: '0x'
      }])
    })

    it('stores the infinities, and NaN as the database can', async () => {
      await store(batchOf([Infinity, -Infinity, NaN, 0]))
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([Infinity, -Infinity, subject.nan, 0])
    })

    it('stores missing values of every type as NULL', async () => {
      const types = /** @type {FieldType[]} */ (['float64', 'float32', 'int64', 'int32', 'int16', 'uint16', 'bool', 'string', 'bytes'])
      await store(rowOf(Object.fromEntries(types.map(type => [type, [type, undefined]]))))
      const [row] = await rows('press')
      for (const type of types) expect(row?.[type] ?? null, type).to.equal(null)
    })

    it('keeps nanoseconds over the whole range of time', async () => {
      const time = [-(2n ** 63n), -1001n, -1n, 0n, 999n, 946_684_800_000_000_000n - 1n, 946_684_800_000_000_000n, T0, 2n ** 63n - 1n]
      await store(new Batch({ source: 'press', time: BigInt64Array.from(time) }))
      expect((await rows('press')).map(row => row.time)).to.deep.equal(time)
    })

    it('stores tags that differ by row, and none where it is missing', async () => {
      const device = { values: ['a', 'Süd', 'a', ''], valid: Uint8Array.of(1, 1, 1, 0) }
      await store(batchOf([1, 2, 3, 4], { tags: { line: '7', device } }))
      expect((await rows('press')).map(row => [row.force, row.line, row.device ?? null])).to.have.deep.members([
        [1, '7', 'a'], [2, '7', 'Süd'], [3, '7', 'a'], [4, '7', null]
      ])
    })

    it('stores 10,000 devices of one batch', async () => {
      const values = Array.from({ length: 10_000 }, (_, i) => `device ${i}`)
      await store(batchOf(values.map((_, i) => i), { tags: { device: { values, valid: null } } }))
      const stored = await rows('press')
      expect(stored).to.have.length(10_000)
      expect(stored.every(({ force, device }) => device === `device ${force}`)).to.equal(true)
    })

    it('stores tags as columns', async () => {
      await store(batchOf([1, 2], { tags: { line: 'Süd', shift: '' } }))
      expect(await rows('press')).to.deep.equal([
        { time: T0, line: 'Süd', shift: '', force: 1 }, { time: T0 + 1n, line: 'Süd', shift: '', force: 2 }
      ])
    })

    it('stores many rows of several batches and shapes in one write', async () => {
      const many = Array.from({ length: 30_000 }, (_, i) => i / 7)
      const more = rowOf({ note: ['string', 'x'.repeat(300_000)] }, { time: BigInt64Array.of(T0 + 50_000n) })
      const one = batchOf([7], { time: BigInt64Array.of(T0 + 40_000n), identity: identity(1) })
      await store(batchOf(many, { identity: identity(0) }), one, more)
      const stored = await rows('press')
      expect(stored.map(({ force }) => force)).to.deep.equal([...many, 7, null])
      expect(stored.at(-1)?.note).to.have.length(300_000)
    })

    it('stores a slice of a batch, and picked rows', async () => {
      const batch = batchOf([0, 1, 2, 3, 4, 5])
      await store(batch.slice(2, 4), batch.pick([5, 0]))
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 2, 3, 5])
    })
  })
}
