import { expect } from 'chai'
import { Batch } from '../../../gateway/batch/batch.js'
import { ALL_NEW, batchOf, identity, rowOf, T0 } from './batches.js'

/** @param {import('./contract.js').Subject} subject */
export function layoutTests (subject) {
  const { it, open, rows, layouts } = subject

  /** @param {object} options @param {Batch[]} batches */
  const storeAs = async (options, ...batches) => {
    const sink = await open(options)
    await sink.prepare(batches)
    return sink.write(batches)
  }

  if (layouts.includes('narrow')) {
    describe('narrow layout', () => {
      it('stores a row for each value, and none for a missing one', async () => {
        const fields = /** @type {const} */ ([{ name: 'a', type: 'float64' }, { name: 'b', type: 'int16' }])
        await storeAs({ layout: 'narrow' }, new Batch({
          source: 'press',
          tags: { line: '1' },
          time: BigInt64Array.of(T0, T0 + 1n),
          fields: [...fields],
          columns: [Float64Array.of(0.5, 1.5), Int16Array.of(7, 8)],
          validity: [null, Uint8Array.of(1, 0)]
        }))
        const stored = await rows('press')
        expect(stored.map(({ time, line, sensor, value }) => ({ time, line, sensor, value }))).to.have.deep.members([
          { time: T0, line: '1', sensor: 'a', value: 0.5 },
          { time: T0, line: '1', sensor: 'b', value: 7 },
          { time: T0 + 1n, line: '1', sensor: 'a', value: 1.5 }
        ])
      })

      it('keeps with each value the tags of its row', async () => {
        const device = { values: ['a', 'b'], valid: null }
        await storeAs({ layout: 'narrow' }, batchOf([1, 2], { tags: { device } }))
        expect((await rows('press')).map(row => [row.device, row.value])).to.have.deep.members([['a', 1], ['b', 2]])
      })

      it('keeps what no float64 holds in a separate column', async () => {
        await storeAs({ layout: 'narrow' }, rowOf({
          n: ['float64', 1],
          big: ['int64', 2n ** 62n + 1n],
          on: ['bool', 1],
          text: ['string', 'ü'],
          blob: ['bytes', Uint8Array.of(1, 255)]
        }))
        const stored = Object.fromEntries((await rows('press')).map(({ sensor, time: _time, ...values }) => {
          return [sensor, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))]
        }))
        expect(stored).to.deep.equal({
          n: { value: 1 },
          big: { value_int64: 2n ** 62n + 1n },
          on: { value: 1 },
          text: { value_string: 'ü' },
          blob: { value_bytes: '0x01ff' }
        })
      })

      it('stores a batch exactly once, and only the commit record of one without values', async () => {
        const batches = [batchOf([1, 2], { identity: identity(0) }), rowOf({ force: ['float64', undefined] }, { identity: identity(1) })]
        expect(await storeAs({ layout: 'narrow' }, ...batches)).to.deep.equal(ALL_NEW)
        expect((await storeAs({ layout: 'narrow' }, ...batches)).duplicates).to.have.length(2)
        expect(await rows('press')).to.have.length(2)
      })
    })
  }

  if (layouts.includes('document')) {
    describe('document layout', () => {
      it('stores a document for each interval', async () => {
        const time = [0n, 1n, 999_999_999n, 1_000_000_000n].map(offset => 1_700_000_000_000_000_000n + offset)
        const batch = batchOf([1, 2, NaN, 4], { time: BigInt64Array.from(time), identity: identity(0) })
        expect(await storeAs({ layout: 'document' }, batch)).to.deep.equal(ALL_NEW)
        expect((await storeAs({ layout: 'document' }, batch)).duplicates).to.have.length(1)
        const stored = (await rows('press')).map(row => {
          const { time: start, size, measurements } = row
          return { time: start, size, measurements: typeof measurements === 'string' ? JSON.parse(measurements) : measurements }
        })
        expect(stored).to.deep.equal([
          {
            time: time[0],
            size: 3,
            measurements: { fields: ['force'], measurements: [{ ns: 0, m: [1] }, { ns: 1, m: [2] }, { ns: 999_999_999, m: [null] }] }
          },
          { time: time[3], size: 1, measurements: { fields: ['force'], measurements: [{ ns: 0, m: [4] }] } }
        ])
      })

      it('keeps rows with different tags in documents of their own', async () => {
        const device = { values: ['a', 'b', 'a', ''], valid: Uint8Array.of(1, 1, 1, 0) }
        await storeAs({ layout: 'document' }, batchOf([1, 2, 3, 4], { tags: { line: '7', device } }))
        expect((await rows('press')).map(row => [row.device ?? null, row.line, row.size])).to.have.deep.members([
          ['a', '7', 2], ['b', '7', 1], [null, '7', 1]
        ])
      })

      it('accepts intervals of other lengths, also before 1970', async () => {
        await storeAs({ layout: 'document', intervalMs: 10_000 }, batchOf([1, 2], { time: BigInt64Array.of(-1n, 1n) }))
        expect((await rows('press')).map(({ time, size }) => [time, size])).to.deep.equal([[-10_000_000_000n, 1], [0n, 1]])
      })
    })
  }
}
