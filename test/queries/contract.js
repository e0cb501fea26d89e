import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { batchOf, failureOf, rowOf, T0 } from '../databases/contract/batches.js'

/**
 * What every reader promises, shown against a real database that the real sink has filled.
 *
 * Whole numbers are read as numbers where safe and else as BigInt. Summaries come in the order of time and, at one time, of `sensors`.
 *
 * @typedef {import('../../gateway/databases/reader.js').Reader} Reader
 * @typedef {import('../../gateway/databases/reader.js').Sample} Sample
 * @typedef {'wide'|'narrow'|'document'} Layout
 *
 * @typedef {object} Harness  one empty database a test
 * @property {readonly Layout[]} layouts  those that the sink has; documents are of 1000 ms
 * @property {(layout: Layout, batches: Batch[]) => Promise<void>} store  through the sink, in its default table of source "press": prepare,
 *   write, close
 * @property {(layout: Layout) => Promise<Reader>} open  of that table; the contract closes it
 * @property {Record<string, string>} [differs]  tests that this database cannot meet, by "title" or "layout: title", and why; its own tests
 *   show what it does instead
 */

const S = 1_000_000_000n

/** Everything stored by these tests. */
const ALL = { from: -10n * S, to: T0 + 10_000n * S }

/** @param {Harness} harness */
export function readerContract (harness) {
  const differing = new Set(Object.keys(harness.differs ?? {}))
  const met = new Set()

  for (const layout of harness.layouts) {
    describe(`reader of the ${layout} layout`, () => {
      /** @type {Reader|undefined} */
      let opened

      afterEach(async () => {
        await opened?.close()
        opened = undefined
      })

      readerTests({
        layout,
        it (title, test) {
          const names = [title, `${layout}: ${title}`].filter(name => differing.has(name))
          names.forEach(name => met.add(name))
          if (names.length === 0) it(title, test)
        },
        async reading (...batches) {
          await harness.store(layout, batches)
          opened = await harness.open(layout)
          return opened
        }
      })
    })
  }

  const unknown = [...differing].filter(name => !met.has(name))
  if (unknown.length > 0) throw new Error(`The contract has no such tests: ${unknown.join('; ')}`)
}

/**
 * @param {{layout: Layout, it: (title: string, test: () => Promise<void>) => void, reading: (...batches: Batch[]) => Promise<Reader>}}
 *   subject
 *   `reading` stores batches and opens a reader of them
 */
function readerTests ({ layout, it, reading }) {
  describe('samples', () => {
    it('gives a range, its start included and its end not', async () => {
      const reader = await reading(forces(T0, [1, 2, 3, 4]))
      expect(await samples(reader, { sensors: ['force'], from: T0 + 1n, to: T0 + 3n })).to.deep.equal([
        { time: T0 + 1n, sensor: 'force', value: 2 },
        { time: T0 + 2n, sensor: 'force', value: 3 }
      ])
      expect(await samples(reader, { sensors: ['force'], from: T0 + 1n, to: T0 + 1n })).to.deep.equal([])
      expect(await samples(reader, { sensors: ['force'], from: T0 + 4n, to: T0 + 10n * S })).to.deep.equal([])
      expect(await samples(reader, { sensors: [], ...ALL })).to.deep.equal([])
    })

    it('tells nanoseconds apart, before 1970 too', async () => {
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

    it('loses none of many at the same time between two pages', async () => {
      const reader = await reading(at(Array(9).fill(T0), [1, 2, 3, 4, 5, 6, 7, 8, 9]))
      const pages = await pagesOf(reader, { sensors: ['force'], ...ALL, pageRows: 2 })
      expect(pages.flat().map(({ value }) => value)).to.have.members([1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('gives 10,000 a page, unless told otherwise', async () => {
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

    it('gives texts and yes or no as they are', async () => {
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

    it('takes the name of a sensor for a name and nothing else', async () => {
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

    it('goes on after a reading that was left early', async () => {
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

  describe('summaries', () => {
    it('count, average and bound the values of each sensor', async () => {
      const reader = await reading(table([T0, T0 + 1n, T0 + 2n * S, T0 + 3n * S], { a: [4, 1, 3, 2], b: [-1, -1, -1, -2] }))
      const { from, to } = { from: T0, to: T0 + 3n * S }
      close(await reader.summaries({ sensors: ['b', 'a', 'nowhere'], from, to, statistics: ['count', 'mean', 'min', 'max', 'stddev'] }), [
        { time: T0, sensor: 'b', count: 3, mean: -1, min: -1, max: -1, stddev: 0 },
        { time: T0, sensor: 'a', count: 3, mean: 8 / 3, min: 1, max: 4, stddev: Math.sqrt(7 / 3) }
      ])
    })

    it('give only what is asked for, and nothing of nothing', async () => {
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

    it('have no standard deviation of a single value', async () => {
      const reader = await reading(forces(T0, [7]))
      close(
        await reader.summaries({ sensors: ['force'], ...ALL, statistics: ['count', 'stddev'] }),
        [{ time: ALL.from, sensor: 'force', count: 1 }]
      )
    })

    it('tell small differences between large values', async () => {
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

    it('take buckets of any length', async () => {
      const base = 7n * (T0 / 7n)
      const reader = await reading(forces(base, Array.from({ length: 15 }, (_, i) => i)))
      close(await reader.summaries({ sensors: ['force'], from: base, to: base + 15n, bucketNs: 7n, statistics: ['count'] }), [
        { time: base, sensor: 'force', count: 7 },
        { time: base + 7n, sensor: 'force', count: 7 },
        { time: base + 14n, sensor: 'force', count: 1 }
      ])
    })
  })

  describe('edge', () => {
    it('finds the first and last value over a limit, or under one', async () => {
      const reader = await reading(forces(T0, [0, 5, 6, 5, 1, 0, 6, 5]))
      const edge = (/** @type {object} */ options) => reader.edge({ sensor: 'force', ...ALL, ...options })
      expect(await edge({ above: 5 })).to.equal(T0 + 2n)
      expect(await edge({ above: 5, last: true })).to.equal(T0 + 6n)
      expect(await edge({ below: 1 })).to.equal(T0)
      expect(await edge({ below: 1, last: true })).to.equal(T0 + 5n)
      expect(await edge({ below: 1, last: true, to: T0 + 5n })).to.equal(T0)
      expect(await edge({ above: 5, from: T0 + 3n })).to.equal(T0 + 6n)
      expect(await edge({ below: 1, from: T0 + 5n, to: T0 + 6n })).to.equal(T0 + 5n)
    })

    it('finds none where there is none', async () => {
      const reader = await reading(new Batch({ ...forces(T0, [0, 99, 6]), validity: [Uint8Array.of(1, 0, 1)] }))
      expect(await reader.edge({ sensor: 'force', ...ALL, above: 6 })).to.equal(null)
      expect(await reader.edge({ sensor: 'force', ...ALL, below: 0, last: true })).to.equal(null)
      expect(await reader.edge({ sensor: 'nowhere', ...ALL, above: 0 })).to.equal(null)
      expect(await reader.edge({ sensor: 'force', from: 0n, to: T0 + 2n, above: 5 })).to.equal(null)
    })

    it('goes by time, whatever the order of arrival', async () => {
      const reader = await reading(at([T0 + 3n * S, T0 + 3n], [9, 9]), at([T0 + 9n * S, T0 + 5n], [9, 9]))
      expect(await reader.edge({ sensor: 'force', ...ALL, above: 8 })).to.equal(T0 + 3n)
      expect(await reader.edge({ sensor: 'force', ...ALL, above: 8, last: true })).to.equal(T0 + 9n * S)
    })
  })

  describe('minimum', () => {
    it('is the first time of the least value', async () => {
      const reader = await reading(at([T0 + 5n * S, T0 + 1n, T0 + 4n, T0 + 2n], [-2, 3, -2, 0]))
      expect(await reader.minimum({ sensor: 'force', ...ALL })).to.equal(T0 + 4n)
      expect(await reader.minimum({ sensor: 'force', ...ALL, to: T0 + 4n })).to.equal(T0 + 2n)
      expect(await reader.minimum({ sensor: 'force', ...ALL, from: T0 + 5n })).to.equal(T0 + 5n * S)
    })

    it('is none of no values', async () => {
      const reader = await reading(new Batch({ ...table([T0], { a: [1], b: [2] }), validity: [Uint8Array.of(0), null] }))
      expect(await reader.minimum({ sensor: 'a', ...ALL })).to.equal(null)
      expect(await reader.minimum({ sensor: 'b', from: 0n, to: T0 })).to.equal(null)
    })
  })

  it('stops when it is told to', async () => {
    const reader = await reading(forces(T0, Array.from({ length: 50 }, (_, i) => i)))
    const aborted = AbortSignal.abort(new Error('closing'))
    const range = { sensors: ['force'], sensor: 'force', ...ALL }
    const failures = [
      () => samples(reader, { ...range, signal: aborted }),
      () => reader.summaries({ ...range, statistics: ['mean'], signal: aborted }),
      () => reader.edge({ ...range, above: 0, signal: aborted }),
      () => reader.minimum({ ...range, signal: aborted })
    ]
    for (const failure of failures) expect((await failureOf(failure)).message).to.equal('closing')

    const abort = new AbortController()
    /** @type {Sample[][]} */
    const pages = []
    const error = await failureOf(async () => {
      for await (const page of reader.samples({ ...range, pageRows: 5, signal: abort.signal })) {
        pages.push(page)
        if (pages.length === 2) abort.abort(new Error('enough'))
      }
    })
    expect(error.message).to.equal('enough')
    expect(pages).to.have.length(2)
    expect(await samples(reader, range), `the ${layout} reader goes on`).to.have.length(50)
  })
}

/** Values of "force", a nanosecond apart. @param {bigint} from @param {number[]} values */
function forces (from, values) {
  return batchOf(values, { time: times(from, values.length) })
}

/** Values of "force". @param {bigint[]} time @param {number[]} values */
function at (time, values) {
  return batchOf(values, { time: BigInt64Array.from(time) })
}

/** @param {bigint[]} time @param {Record<string, number[]>} columns  of doubles, by sensor */
function table (time, columns) {
  return new Batch({
    source: 'press',
    time: BigInt64Array.from(time),
    fields: Object.keys(columns).map(name => ({ name, type: 'float64' })),
    columns: Object.values(columns).map(values => Float64Array.from(values))
  })
}

/** @param {bigint} from @param {number} count */
function times (from, count) {
  return BigInt64Array.from({ length: count }, (_, i) => from + BigInt(i))
}

/** @param {Reader} reader @param {Parameters<Reader['samples']>[0]} range */
async function pagesOf (reader, range) {
  /** @type {Sample[][]} */
  const pages = []
  for await (const page of reader.samples(range)) pages.push(page)
  return pages
}

/** @param {Reader} reader @param {Parameters<Reader['samples']>[0]} range */
async function samples (reader, range) {
  return (await pagesOf(reader, range)).flat()
}

/** @param {Sample[]} read @param {string} sensor */
function valuesOf (read, sensor) {
  return read.filter(sample => sample.sensor === sensor).map(({ value }) => value)
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
