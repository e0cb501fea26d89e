import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { batchOf, rowOf, T0 } from '../databases/contract/batches.js'
import { ALL, at, forces, pagesOf, S, samples, table, times, valuesOf } from './readings.js'

/** @param {import('./contract.js').Subject} subject */
export function sampleTests ({ it, reading }) {
  describe('samples', () => {
    it('returns a range including its start but not its end', async () => {
      const reader = await reading(forces(T0, [1, 2, 3, 4]))
      expect(await samples(reader, { sensors: ['force'], from: T0 + 1n, to: T0 + 3n })).to.deep.equal([
        { time: T0 + 1n, sensor: 'force', value: 2 },
        { time: T0 + 2n, sensor: 'force', value: 3 }
      ])
      expect(await samples(reader, { sensors: ['force'], from: T0 + 1n, to: T0 + 1n })).to.deep.equal([])
      expect(await samples(reader, { sensors: ['force'], from: T0 + 4n, to: T0 + 10n * S })).to.deep.equal([])
      expect(await samples(reader, { sensors: [], ...ALL })).to.deep.equal([])
    })

    it('distinguishes nanoseconds, also before 1970', async () => {
      const stored = [-S - 1n, -S, -1n, 0n, 1n, T0, T0 + 1n, T0 + 999n, T0 + 1000n, T0 + 4n * S]
      const reader = await reading(at(stored, stored.map((_, i) => i)))
      const read = await samples(reader, { sensors: ['force'], ...ALL })
      expect(read.map(({ time }) => time)).to.deep.equal(stored)
      expect(read.map(({ value }) => value)).to.deep.equal(stored.map((_, i) => i))
      for (let i = 0; i < stored.length - 1; i++) {
        const [one, ...none] = await samples(reader, { sensors: ['force'], from: stored[i], to: stored[i] + 1n })
        expect([one.time, one.value, none]).to.deep.equal([stored[i], i, []])
      }
    })

    it('is in the order of time, whatever the order of arrival', async () => {
      const reader = await reading(at([T0 + 2n * S, T0, T0 + 5n], [3, 0, 2]), at([T0 + 1n, T0 + 3n * S], [1, 4]))
      expect((await samples(reader, { sensors: ['force'], ...ALL })).map(({ value }) => value)).to.deep.equal([0, 1, 2, 3, 4])
    })

    it('is in the order of the sensors asked for, at one time', async () => {
      const reader = await reading(table([T0, T0 + 1n], { a: [1, 2], b: [3, 4], c: [5, 6] }))
      const read = await samples(reader, { sensors: ['c', 'a'], ...ALL })
      expect(read.map(({ time, sensor, value }) => [time - T0, sensor, value])).to.deep.equal([
        [0n, 'c', 5],
        [0n, 'a', 1],
        [1n, 'c', 6],
        [1n, 'a', 2]
      ])
    })

    it('lists all sensors that may have samples, where it can list them', async () => {
      const other = rowOf({ speed: ['float64', 2], note: ['string', 'x'] }, { time: BigInt64Array.of(T0 + 5n) })
      const reader = await reading(batchOf([1]), other)
      if (reader.sensors) expect(await reader.sensors(ALL)).to.include.members(['force', 'speed', 'note'])
    })

    it('leaves out what is missing, and sensors that do not exist', async () => {
      const reader = await reading(
        new Batch({ ...table([T0, T0 + 1n], { a: [1, 2], b: [3, 4] }), validity: [Uint8Array.of(0, 1), null] }),
        table([T0 + 2n], { a: [5] })
      )
      const read = await samples(reader, { sensors: ['nowhere', 'a', 'b'], ...ALL })
      expect(read.map(({ time, sensor, value }) => [time - T0, sensor, value])).to.deep.equal([
        [0n, 'b', 3],
        [1n, 'a', 2],
        [1n, 'b', 4],
        [2n, 'a', 5]
      ])
      expect(await samples(reader, { sensors: ['nowhere'], ...ALL })).to.deep.equal([])
    })

    it('comes in pages no larger than asked for', async () => {
      const values = Array.from({ length: 11 }, (_, i) => i)
      const reader = await reading(table(values.map(i => T0 + BigInt(i) * S / 4n), { a: values, b: values }))
      const pages = await pagesOf(reader, { sensors: ['b', 'a'], ...ALL, pageRows: 3 })
      expect(Math.max(...pages.map(({ length }) => length))).to.be.at.most(3)
      expect(Math.min(...pages.map(({ length }) => length))).to.be.above(0)
      expect(pages.flat().map(({ sensor, value }) => `${sensor}${value}`)).to.deep.equal(values.flatMap(i => [`b${i}`, `a${i}`]))
    })

    it('loses no value between pages when many have the same time', async () => {
      const reader = await reading(at(Array(9).fill(T0), [1, 2, 3, 4, 5, 6, 7, 8, 9]))
      const pages = await pagesOf(reader, { sensors: ['force'], ...ALL, pageRows: 2 })
      expect(pages.flat().map(({ value }) => value)).to.have.members([1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('returns 10,000 a page by default', async () => {
      const values = Array.from({ length: 25_000 }, (_, i) => i)
      const reader = await reading(at(values.map(i => T0 + BigInt(i) * S / 1000n), values))
      const pages = await pagesOf(reader, { sensors: ['force'], ...ALL })
      expect(pages.length).to.be.at.least(3)
      expect(Math.max(...pages.map(({ length }) => length))).to.be.at.most(10_000)
      expect(pages.flat().map(({ value }) => value)).to.deep.equal(values)
    })

    it('keeps whole numbers exact', async () => {
      const counts = [0n, -7n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]
      const reader = await reading(new Batch({
        source: 'press',
        time: times(T0, counts.length),
        fields: [{ name: 'count', type: 'int64' }],
        columns: [BigInt64Array.from(counts)]
      }))
      expect((await samples(reader, { sensors: ['count'], ...ALL })).map(({ value }) => value)).to.deep.equal([0, -7, ...counts.slice(2)])
    })

    it('keeps other numbers exact', async () => {
      const values = [0.1, 1 / 3, -Number.MAX_VALUE, Number.MIN_VALUE, 1e21, 2 ** 53]
      const reader = await reading(forces(T0, values))
      const read = await samples(reader, { sensors: ['force'], ...ALL })
      expect(read.map(({ value }) => Number(value))).to.deep.equal(values)
      expect(typeof read[0].value).to.equal('number')
    })

    it('returns texts and booleans as they are', async () => {
      const texts = ['Grüße 🚀', '', '\'"\\ \n', '17', 'null']
      const reader = await reading(new Batch({
        source: 'press',
        time: times(T0, texts.length),
        fields: [{ name: 'stage', type: 'string' }, { name: 'on', type: 'bool' }, { name: 'force', type: 'float64' }],
        columns: [texts, Uint8Array.of(1, 0, 1, 0, 1), Float64Array.of(1.5, 2.5, 3.5, 4.5, 5.5)]
      }))
      const read = await samples(reader, { sensors: ['stage', 'force', 'on'], ...ALL })
      expect(valuesOf(read, 'stage')).to.deep.equal(texts)
      expect(valuesOf(read, 'force')).to.deep.equal([1.5, 2.5, 3.5, 4.5, 5.5])
      expect(valuesOf(read, 'on').map(Number), 'true or 1, false or 0').to.deep.equal([1, 0, 1, 0, 1])
    })

    it('treats the name of a sensor as a name and nothing else', async () => {
      const name = 'fo"r`ce\'; DROP TABLE press; --'
      const reader = await reading(table([T0], { [name]: [7], other: [8] }))
      expect(await samples(reader, { sensors: [name], ...ALL })).to.deep.equal([{ time: T0, sensor: name, value: 7 }])
      for (const sensor of [
        '" FROM press; DROP TABLE press; --',
        '\' OR 1 = 1 --',
        '`',
        '*',
        '1',
        'time',
        '',
        'OTHER',
        'other ',
        '$other',
        'a\0b'
      ]) {
        expect(await samples(reader, { sensors: [sensor], ...ALL }), sensor).to.deep.equal([])
        expect(await reader.summaries({ sensors: [sensor], ...ALL, statistics: ['count'] }), sensor).to.deep.equal([])
        expect(await reader.edge({ sensor, ...ALL, above: 0 }), sensor).to.equal(null)
        expect(await reader.minimum({ sensor, ...ALL }), sensor).to.equal(null)
      }
      expect(await reader.minimum({ sensor: name, ...ALL })).to.equal(T0)
      expect(await reader.edge({ sensor: name, ...ALL, above: 6 })).to.equal(T0)
      expect(await reader.summaries({ sensors: [name, 'other'], ...ALL, statistics: ['max'] })).to.deep.equal([
        { time: ALL.from, sensor: name, max: 7 },
        { time: ALL.from, sensor: 'other', max: 8 }
      ])
    })

    it('can be read again after a reading that ended early', async () => {
      const reader = await reading(forces(T0, Array.from({ length: 50 }, (_, i) => i)))
      for (let i = 0; i < 10; i++) {
        for await (const page of reader.samples({ sensors: ['force'], ...ALL, pageRows: 5 })) {
          expect(page[0].value).to.equal(0)
          break
        }
      }
      expect(await samples(reader, { sensors: ['force'], ...ALL })).to.have.length(50)
    })
  })
}
