import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { formatTime } from '../../gateway/batch/time.js'
import { run } from '../../gateway/queries/run.js'
import { openSimulator } from '../../gateway/simulators/simulator.js'
import { recorder } from '../sources/manual-clock.js'

const SECOND = 1_000_000_000n
const HOUR = 3600n * SECOND
const DAY = 1_700_000_000n * SECOND - (1_700_000_000n * SECOND) % (24n * HOUR)

/**
 * What every query finds, in every layout a database has.
 * @param {Pick<import('./contract.js').Harness, 'layouts'|'store'|'open'>} harness
 */
export function queryContract ({ layouts, store, open }) {
  for (const layout of layouts) {
    describe(`queries of the ${layout} layout`, () => {
      /** @type {import('../../gateway/databases/reader.js').Reader|undefined} */
      let reader
      afterEach(async () => {
        await reader?.close()
        reader = undefined
      })

      /** @param {Batch[]} batches */
      const stored = async (...batches) => {
        await store(layout, batches)
        reader = await open(layout)
      }

      /** @param {string} name @param {object} parameters @returns {Promise<any[]>} */
      const ask = async (name, parameters) => {
        /** @type {object[]} */
        const rows = []
        for await (const page of run(/** @type {any} */ (reader), { name, ...parameters })) rows.push(...page.rows)
        return rows
      }

      describe('SciTS', () => {
        // Every 20 minutes for 3 hours: a rises by one from 0; b is twice as much, and has nothing in the third hour.
        const values = Array.from({ length: 9 }, (_, i) => i)
        const times = values.map(i => DAY + BigInt(i) * HOUR / 3n)
        const range = { from: DAY, to: formatTime(DAY + 24n * HOUR) }

        beforeEach(() => stored(new Batch({
          source: 'press',
          time: BigInt64Array.from(times),
          fields: [{ name: 'a', type: 'float64' }, { name: 'b', type: 'int32' }],
          columns: [Float64Array.from(values), Int32Array.from(values, i => 2 * i)],
          validity: [null, Uint8Array.from(values, i => i < 6 ? 1 : 0)]
        })))

        it('Q1: raw values', async () => {
          expect(await ask('raw', { sensors: ['b', 'a', 'b'], from: times[5], to: times[7] })).to.deep.equal([
            { time: times[5], sensor: 'b', value: 10 }, { time: times[5], sensor: 'a', value: 5 }, { time: times[6], sensor: 'a', value: 6 }
          ])
        })

        it('Q2: the hours in which a sensor was out of range', async () => {
          expect(await ask('out-of-range', { sensors: ['a'], ...range, lower: 3, upper: 7 })).to.deep.equal([
            { time: DAY, sensor: 'a', min: 0, max: 2 }, { time: DAY + 2n * HOUR, sensor: 'a', min: 6, max: 8 }
          ])
          expect(await ask('out-of-range', { sensors: ['a'], ...range, upper: 8 })).to.deep.equal([])
          const found = await ask('out-of-range', { sensors: ['b'], ...range, lower: 1, bucketHours: 24 })
          expect(found.map(({ time }) => time)).to.deep.equal([DAY])
        })

        it('Q3: the standard deviation of each sensor', async () => {
          const rows = await ask('deviation', { sensors: ['a', 'b'], ...range, perSensor: true })
          expect(rows.map(({ time, sensor, count }) => [time, sensor, count])).to.deep.equal([[DAY, 'a', 9], [DAY, 'b', 6]])
          expect(rows[0].stddev).to.be.closeTo(Math.sqrt(7.5), 1e-12)
          expect(rows[1].stddev).to.be.closeTo(Math.sqrt(14), 1e-12)
        })

        it('Q3: one standard deviation over all sensors, and each aggregate in its place', async () => {
          const all = [...values, ...values.slice(0, 6).map(value => 2 * value)]
          const average = all.reduce((sum, value) => sum + value, 0) / all.length
          const [row, ...others] = await ask('deviation', { sensors: ['a', 'b'], ...range })
          expect(others).to.deep.equal([])
          expect(row).to.include({ time: DAY, sensor: '', count: 15 })
          expect(row.stddev).to.be.closeTo(Math.sqrt(all.reduce((sum, value) => sum + (value - average) ** 2, 0) / 14), 1e-12)
          const expected = { mean: average, min: 0, max: 10, count: 15, sum: 66, first: 0, last: 8 }
          for (const [aggregate, value] of Object.entries(expected)) {
            const [found] = await ask('deviation', { sensors: ['a', 'b'], ...range, aggregate })
            expect(found[aggregate], aggregate).to.be.closeTo(value, 1e-12)
          }
          expect(await ask('deviation', { sensors: ['nobody'], ...range })).to.deep.equal([])
        })

        it('Q4 and Q5: with another aggregate', async () => {
          expect(await ask('mean', { sensors: ['b', 'a'], ...range, aggregate: 'last', bucketHours: 3 })).to.deep.equal([
            { time: DAY, sensor: 'b', last: 10 }, { time: DAY, sensor: 'a', last: 8 }
          ])
          expect(await ask('mean', { sensors: ['a'], ...range, aggregate: 'sum' })).to.deep.equal(
            [3, 12, 21].map((sum, hour) => ({ time: DAY + BigInt(hour) * HOUR, sensor: 'a', sum })))
          expect(await ask('difference', { sensors: ['b', 'a'], ...range, aggregate: 'max' })).to.deep.equal([
            { time: DAY, sensor: 'b', other: 'a', difference: 2 }, { time: DAY + HOUR, sensor: 'b', other: 'a', difference: 5 }
          ])
        })

        it('Q4: hourly means', async () => {
          expect(await ask('mean', { sensors: ['a', 'b'], ...range })).to.deep.equal([
            { time: DAY, sensor: 'a', mean: 1 }, { time: DAY, sensor: 'b', mean: 2 },
            { time: DAY + HOUR, sensor: 'a', mean: 4 }, { time: DAY + HOUR, sensor: 'b', mean: 8 },
            { time: DAY + 2n * HOUR, sensor: 'a', mean: 7 }
          ])
        })

        it('Q5: the difference of two sensors\' hourly means', async () => {
          expect(await ask('difference', { sensors: ['b', 'a'], ...range })).to.deep.equal([
            { time: DAY, sensor: 'b', other: 'a', difference: 1 }, { time: DAY + HOUR, sensor: 'b', other: 'a', difference: 4 }
          ])
        })
      })

      it('find what rows with certain tags say, of all queries', async () => {
        const device = { values: ['a', 'b', 'a', 'b'], valid: Uint8Array.of(1, 1, 1, 0) }
        await stored(new Batch({
          source: 'press',
          time: BigInt64Array.from([0n, 1n, 2n, 3n], i => DAY + i),
          fields: [{ name: 'angle', type: 'float64' }, { name: 'b', type: 'float64' }],
          columns: [Float64Array.of(1, 2, 5, 9), Float64Array.of(1, 1, 2, 1)],
          tags: { line: '7', device }
        }))
        const range = { from: DAY, to: DAY + HOUR }
        const valuesOf = async (/** @type {object} */ tags) =>
          (await ask('raw', { sensors: ['angle'], ...range, tags })).map(({ value }) => value)
        expect(await valuesOf({ device: 'a' })).to.deep.equal([1, 5])
        expect(await valuesOf({ device: ['a', 'b'], line: 7 })).to.deep.equal([1, 2, 5])
        expect(await valuesOf({ device: null })).to.deep.equal([9])
        expect(await valuesOf([{ tag: 'device', value: '' }, { tag: 'device', value: 'b' }])).to.deep.equal([2, 9])
        const tags = { device: 'a' }
        expect(await ask('out-of-range', { sensors: ['angle'], ...range, tags, upper: 4 })).to.deep.equal([
          { time: DAY, sensor: 'angle', min: 1, max: 5 }
        ])
        expect((await ask('deviation', { sensors: ['angle'], ...range, tags })).map(({ count }) => count)).to.deep.equal([2])
        expect((await ask('mean', { sensors: ['angle'], ...range, tags })).map(each => each.mean)).to.deep.equal([3])
        expect((await ask('difference', { sensors: ['angle', 'b'], ...range, tags })).map(each => each.difference)).to.deep.equal([1.5])
      })

      describe('machine cycle', () => {
        const channels = ['angle', 'sensor1', 'sensor2', 'sensor3', 'sensor4']
        /** @type {Batch[]} */
        let machine
        /** @type {bigint} */
        let t0

        before(async () => {
          const recording = recorder()
          openSimulator({ name: 'press', paced: false, batchRows: 700, maxSamples: 4200 }, recording)
          await recording.ended
          machine = recording.batches
          t0 = machine[0].time[0]
        })
        beforeEach(() => stored(...machine))

        const strategies = ['individual', 'bulk', 'bulk-1']
        const cycles = (/** @type {object} */ parameters) =>
          Promise.all(strategies.map(strategy => ask('cycle', { sensors: channels, windowMinutes: 1, strategy, ...parameters })))
        const seconds = (/** @type {bigint} */ time) => Number(time - t0) / 1e9

        for (const [at, start, end] of [[1.4, 4 / 3, 5 / 3], [2.2, 2, 7 / 3], [2.65, 7 / 3, 8 / 3]]) {
          it(`is found around ${at} s, the same with every strategy`, async () => {
            const [individual, bulk, bulk1] = await cycles({ at: t0 + BigInt(at * 1e9) })
            expect(bulk).to.deep.equal(individual)
            expect(bulk1).to.deep.equal(individual)
            const [{ time, end: last }] = individual
            expect(seconds(time)).to.be.closeTo(start, 0.01)
            expect(seconds(last)).to.be.closeTo(end, 0.01)

            const rows = machine.flatMap(batch => batch.toObjects())
              .filter(row => BigInt(String(row.time)) >= time && BigInt(String(row.time)) <= last)
            expect(rows.length).to.be.within(325, 345)
            expect(individual).to.deep.equal(channels.map(sensor => {
              const sum = rows.reduce((before, row) => before + Number(row[sensor]), 0)
              return { time, end: last, sensor, count: rows.length, sum }
            }))
          })
        }

        it('accepts another angle, amplitude and choice of sensors', async () => {
          const [individual, bulk] = await cycles({ at: t0 + 14n * SECOND / 10n, sensors: ['sensor3'], angle: 'angle', amplitude: 4000 })
          expect(individual.map(({ sensor }) => sensor)).to.deep.equal(['sensor3'])
          expect(bulk).to.deep.equal(individual)
          expect(await cycles({ at: t0 + SECOND, angle: 'nowhere' })).to.deep.equal([[], [], []])
        })

        it('is that of the rows with certain tags', async () => {
          const [individual] = await cycles({ at: t0 + 14n * SECOND / 10n })
          await reader?.close()
          const shifted = machine.map(batch => new Batch({ ...batch, tags: { device: 'b' }, columns: batch.columns.toReversed() }))
          await stored(...machine.map(batch => new Batch({ ...batch, tags: { device: 'a' } })), ...shifted)
          for (const found of await cycles({ at: t0 + 14n * SECOND / 10n, tags: { device: 'a' } })) expect(found).to.deep.equal(individual)
        })

        it('is not found where the data end within it, or before it', async () => {
          expect(await cycles({ at: t0 + 41n * SECOND / 10n })).to.deep.equal([[], [], []])
          expect(await cycles({ at: t0 + 10n * SECOND })).to.deep.equal([[], [], []])
          expect(await cycles({ at: t0 })).to.deep.equal([[], [], []])
        })

        it('is chosen at random', async () => {
          const starts = new Set()
          for (let i = 0; i < 20; i++) {
            for (const { time } of await ask('cycle', { sensors: ['angle'], from: t0 + SECOND, to: t0 + 3n * SECOND, strategy: 'bulk' })) {
              starts.add(time)
            }
          }
          expect(starts.size).to.be.above(1)
          for (const time of starts) expect(seconds(time)).to.be.within(1, 3)
        })
      })
    })
  }
}
