import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { T0 } from '../databases/contract/batches.js'
import { ALL, at, forces, S, table } from './readings.js'

/** @param {import('./contract.js').Subject} subject */
export function summaryTests ({ it, reading }) {
  describe('summaries', () => {
    it('count, average and bound the values of each sensor', async () => {
      const reader = await reading(table([T0, T0 + 1n, T0 + 2n * S, T0 + 3n * S], { a: [4, 1, 3, 2], b: [-1, -1, -1, -2] }))
      const { from, to } = { from: T0, to: T0 + 3n * S }
      close(await reader.summaries({ sensors: ['b', 'a', 'nowhere'], from, to, statistics: ['count', 'mean', 'min', 'max', 'stddev'] }), [
        { time: T0, sensor: 'b', count: 3, mean: -1, min: -1, max: -1, stddev: 0 },
        { time: T0, sensor: 'a', count: 3, mean: 8 / 3, min: 1, max: 4, stddev: Math.sqrt(7 / 3) }
      ])
    })

    it('include only what is asked for, and nothing without values', async () => {
      const reader = await reading(new Batch({ ...table([T0, T0 + 1n], { a: [1, 2], b: [3, 4] }), validity: [null, Uint8Array.of(0, 0)] }))
      close(await reader.summaries({ sensors: ['a', 'b'], ...ALL, statistics: ['mean'] }), [{ time: ALL.from, sensor: 'a', mean: 1.5 }])
      close(
        await reader.summaries({ sensors: ['a', 'b'], from: T0 + 1n, to: T0 + 2n, statistics: ['max', 'count'] }),
        [{ time: T0 + 1n, sensor: 'a', count: 1, max: 2 }]
      )
      expect(await reader.summaries({ sensors: ['a'], from: 0n, to: T0, statistics: ['count'] })).to.deep.equal([])
      expect(await reader.summaries({ sensors: ['a'], from: 0n, to: T0, bucketNs: 3600n * S, statistics: ['count'] })).to.deep.equal([])
      expect(await reader.summaries({ sensors: [], ...ALL, statistics: ['count'] })).to.deep.equal([])
    })

    it('are the same together as computed from all values, in buckets too, whatever the aggregate', async () => {
      const reader = await reading(table([T0, T0 + 1n, T0 + S, T0 + 3n * S], { a: [4, 1, 3, 2], b: [-1, -7, 100, -2] }))
      const range = { sensors: ['b', 'a'], from: T0 - T0 % S, to: T0 + 9n * S }
      const all = /** @type {const} */ (['count', 'mean', 'min', 'max', 'stddev', 'sum', 'first', 'last'])
      for (const statistics of [all.slice(0, 6), [...all], [all[4]], [all[5]], [all[6]]]) {
        const expected = (/** @type {bigint} */ time, /** @type {number[]} */ values) => {
          const mean = values.reduce((sum, value) => sum + value, 0) / values.length
          const stddev = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
          const of = {
            count: values.length, mean, min: Math.min(...values), max: Math.max(...values), stddev, sum: mean * values.length,
            first: values[0], last: values[values.length - 1]
          }
          return { time, sensor: '', ...Object.fromEntries(statistics.map(name => [name, of[name]])) }
        }
        close(await reader.summaries({ ...range, statistics, together: true }), [expected(range.from, [-1, 4, -7, 1, 100, 3, -2, 2])])
        const second = range.from
        close(await reader.summaries({ ...range, statistics, together: true, bucketNs: S }), [
          expected(second, [-1, 4, -7, 1]), expected(second + S, [100, 3]), expected(second + 3n * S, [-2, 2])
        ])
      }
    })

    it('have no standard deviation of a single value', async () => {
      const reader = await reading(forces(T0, [7]))
      close(
        await reader.summaries({ sensors: ['force'], ...ALL, statistics: ['count', 'stddev'] }),
        [{ time: ALL.from, sensor: 'force', count: 1 }]
      )
    })

    it('are exact for small differences between large values', async () => {
      const reader = await reading(forces(T0, [4, 7, 13, 16].map(value => 1e9 + value)))
      close(
        await reader.summaries({ sensors: ['force'], ...ALL, statistics: ['mean', 'stddev'] }),
        [{ time: ALL.from, sensor: 'force', mean: 1e9 + 10, stddev: Math.sqrt(30) }]
      )
    })

    it('begin their buckets at multiples, before 1970 too', async () => {
      const reader = await reading(at([-S - S / 2n, -S, -1n, 0n, S - 1n, S, 7n * S], [1, 2, 4, 8, 16, 32, 64]))
      close(await reader.summaries({ sensors: ['force'], from: -10n * S, to: 7n * S, bucketNs: S, statistics: ['count', 'min', 'max'] }), [
        { time: -2n * S, sensor: 'force', count: 1, min: 1, max: 1 },
        { time: -S, sensor: 'force', count: 2, min: 2, max: 4 },
        { time: 0n, sensor: 'force', count: 2, min: 8, max: 16 },
        { time: S, sensor: 'force', count: 1, min: 32, max: 32 }
      ])
    })

    it('cut the first and last bucket at the range', async () => {
      const hour = 3600n * S
      const start = T0 - T0 % hour
      const reader = await reading(table(
        [0n, 10n, hour - 1n, hour, hour + 5n].map(offset => start + offset),
        { a: [1, 2, 3, 4, 5], b: [10, 20, 30, 40, 50] }
      ))
      const range = { from: start + 10n, to: start + hour + 5n }
      close(await reader.summaries({ sensors: ['b', 'a'], ...range, bucketNs: hour, statistics: ['mean', 'stddev'] }), [
        { time: start, sensor: 'b', mean: 25, stddev: Math.sqrt(50) },
        { time: start, sensor: 'a', mean: 2.5, stddev: Math.sqrt(0.5) },
        { time: start + hour, sensor: 'b', mean: 40 },
        { time: start + hour, sensor: 'a', mean: 4 }
      ])
    })

    it('have buckets of any length', async () => {
      const base = 7n * (T0 / 7n)
      const reader = await reading(forces(base, Array.from({ length: 15 }, (_, i) => i)))
      close(await reader.summaries({ sensors: ['force'], from: base, to: base + 15n, bucketNs: 7n, statistics: ['count'] }), [
        { time: base, sensor: 'force', count: 7 },
        { time: base + 7n, sensor: 'force', count: 7 },
        { time: base + 14n, sensor: 'force', count: 1 }
      ])
    })
  })
}

/** The same summaries, their numbers within what doubles allow. @param {any[]} found @param {any[]} expected */
function close (found, expected) {
  expect(found.map(({ time, sensor }) => [time, sensor])).to.deep.equal(expected.map(({ time, sensor }) => [time, sensor]))
  found.forEach(({ time, sensor, ...statistics }, i) => {
    expect(Object.keys(statistics)).to.have.members(Object.keys(expected[i]).slice(2))
    for (const [name, value] of Object.entries(statistics)) {
      expect(value, `${name} of ${sensor} at ${time}`).to.be.closeTo(expected[i][name], 1e-9 * Math.max(1, Math.abs(expected[i][name])))
    }
  })
}
