import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { formatTime } from '../../gateway/batch/time.js'
import { queryAsked } from '../../gateway/queries/asked.js'
import { summariesOf } from '../../gateway/databases/reading/compute.js'
import { queries } from '../../gateway/queries/index.js'
import { readParameters } from '../../gateway/queries/parameters.js'
import { run } from '../../gateway/queries/run.js'
import { open as openSink } from '../../gateway/databases/sqlite/sink.js'
import { open } from '../../gateway/databases/sqlite/reader.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'

const MINUTE = 60_000_000_000n

describe('running a query', () => {
  const ROWS = 100
  /** @type {string} */
  let folder
  /** @type {import('../../gateway/databases/reader.js').Reader} */
  let reader

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-run-'))
    const file = join(folder, 'sluice.sqlite')
    const sink = await openSink({ file })
    await sink.write([batchOf(Array.from({ length: ROWS }, (_, i) => i))])
    await sink.close()
    reader = await open({ file, table: 'press' })
  })

  after(async () => {
    await reader.close()
    await rm(folder, { recursive: true })
  })

  const range = { sensors: ['force'], from: T0, to: T0 + 1000n }

  /** @param {object} options @param {object} [query] */
  const pagesOf = async (options, query = {}) => {
    /** @type {any[]} */
    const pages = []
    for await (const page of run(reader, { name: 'raw', ...range, ...query }, options)) pages.push(page)
    return pages
  }
  const shapes = (/** @type {any[]} */ pages) => pages.map(({ rows, index, last, cut }) => [rows.length, index, last, cut])

  it('returns pages, the last of them marked', async () => {
    const pages = await pagesOf({ pageRows: 40 })
    expect(shapes(pages)).to.deep.equal([[40, 0, false, false], [40, 1, false, false], [20, 2, true, false]])
    expect(pages.flatMap(({ rows }) => rows.map((/** @type {any} */ { value }) => value))).to.deep.equal([...Array(ROWS).keys()])
  })

  it('refuses tags that it cannot understand', async () => {
    for (const tags of [{ line: [] }, { line: {} }, 'line', [{ value: '7' }], 7]) {
      expect((await failureOf(() => pagesOf({}, { tags }))).code, JSON.stringify(tags)).to.equal('SLUICE_QUERY_PARAMETERS')
    }
  })

  it('returns an empty page when nothing is found', async () => {
    expect(shapes(await pagesOf({}, { to: T0 + 1n, sensors: ['nowhere'] }))).to.deep.equal([[0, 0, true, false]])
  })

  it('ends before the intervals of a query fill the memory', async () => {
    let pages = 0
    async function * samples () {
      for (; pages < 1000; pages++) {
        yield Array.from(
          { length: 10_000 },
          (_, i) => ({ time: BigInt(pages * 10_000 + i) * 1000n, sensor: 'force', value: i })
        )
      }
    }
    const error = await failureOf(() =>
      summariesOf({ samples }, { sensors: ['force'], from: 0n, to: 2n ** 60n, bucketNs: 1n, statistics: ['mean'] }))
    expect(error.message).to.match(/more than 500,000 intervals.*Make the intervals longer/)
    expect(pages).to.equal(50)
  })

  it('cuts at the limit, and reports it only where there is more', async () => {
    expect(shapes(await pagesOf({ pageRows: 40, limit: 50 }))).to.deep.equal([[40, 0, false, false], [10, 1, true, true]])
    expect(shapes(await pagesOf({ pageRows: 40, limit: 80 }))).to.deep.equal([[40, 0, false, false], [40, 1, true, true]])
    expect(shapes(await pagesOf({ pageRows: 50, limit: ROWS }))).to.deep.equal([[50, 0, false, false], [50, 1, true, false]])
    expect(shapes(await pagesOf({ limit: 1 }))).to.deep.equal([[1, 0, true, true]])
  })

  it('divides into pages what a query returns as a whole', async () => {
    const { bucketNs } = readParameters(queries.mean.schema, { ...range, bucketHours: 1e-12 })
    expect(bucketNs).to.equal(4n)
    const buckets = (T0 + BigInt(ROWS) - 1n) / bucketNs - T0 / bucketNs + 1n
    expect(shapes(await pagesOf({ pageRows: 10 }, { name: 'mean', bucketHours: 1e-12 }))).to.deep.equal([
      [10, 0, false, false],
      [10, 1, false, false],
      [Number(buckets) - 20, 2, true, false]
    ])
  })

  it('returns times as exact texts or BigInt', async () => {
    const [{ rows: [text] }] = await pagesOf({ times: 'iso' })
    expect(text).to.deep.equal({ time: '2023-11-14T22:13:20.123456789Z', sensor: 'force', value: 0 })
    const [{ rows: [number] }] = await pagesOf({ times: 'bigint' })
    expect(number.time).to.equal(T0)
  })

  it('reads on only as pages are requested, and stops when aborted', async () => {
    const abort = new AbortController()
    const pages = run(reader, { name: 'raw', ...range }, { pageRows: 10, signal: abort.signal })
    await pages.next()
    abort.abort(new Error('closing'))
    expect((await failureOf(() => pages.next())).message).to.equal('closing')
  })

  it('reports what is wrong with a query', async () => {
    const messageOf = async (/** @type {object} */ query) => (await failureOf(() => pagesOf({}, query))).message
    expect(await messageOf({ name: 'everything' })).to.match(/no query "everything"\. Use raw, out-of-range, .*cycle\./)
    expect(await messageOf({ name: 'constructor' })).to.match(/no query "constructor"/)
    expect(await messageOf({ name: 'mean', sensors: [] })).to.match(/Sensors must have at least 1 entry.*msg\.query/)
    const two = { name: 'out-of-range', sensors: ['a', 'b'], upper: 1 }
    expect(await messageOf(two)).to.match(/Sensors must have at most 1 entries; it has 2/)
    expect(await messageOf({ name: 'out-of-range' })).to.match(/no limits.*Give a lower or an upper limit/)
    expect(await messageOf({ name: 'difference' })).to.match(/Sensors must have at least 2 entries/)
    expect(await messageOf({ name: 'mean', bucketHours: 0 })).to.match(/Bucket must be more than 0.*0 is too small/)
    expect(await messageOf({ name: 'mean', bucketHours: 'long' })).to.match(/"long" is not a number/)
    expect(await messageOf({ name: 'cycle', strategy: 'fast' })).to.match(/Strategy must be one of individual, bulk, bulk-1/)
    expect(await messageOf({ from: 'yesterday' })).to.match(/"From" is wrong.*"yesterday" is not a time/)
    expect(await messageOf({ to: 17 })).to.match(/"To" is wrong.*1970/)
    expect(await messageOf({ to: range.from })).to.match(
      /starts at 2023-11-14T22:13:20\.123456789Z, which is not before its end.*Give an earlier start/
    )
  })
})

describe('the range of a query', () => {
  const now = 1_700_000_000_000_000_000n
  const read = (/** @type {object} */ given, query = 'raw') => {
    const { from, to, at } = readParameters(queries[query].schema, given, now)
    return [from, to, at]
  }
  const sensors = ['a']

  it('is the window before now, or before its end', () => {
    expect(read({ sensors })).to.deep.equal([now - 60n * MINUTE, now, undefined])
    expect(read({ sensors, windowMinutes: 0.5, from: '' })).to.deep.equal([now - MINUTE / 2n, now, undefined])
    expect(read({ sensors, windowMinutes: 1, to: '2023-11-14T22:00:00Z' })).to.deep.equal([
      1_699_999_140_000_000_000n,
      1_699_999_200_000_000_000n,
      undefined
    ])
  })

  it('accepts times in every form', () => {
    expect(read({ sensors, from: '2023-11-14T22:00:00.000000001Z' })).to.deep.equal([1_699_999_200_000_000_001n, now, undefined])
    expect(read({ sensors, from: 1_699_999_200_000 })).to.deep.equal([1_699_999_200_000_000_000n, now, undefined])
    expect(read({ sensors, from: new Date(1_699_999_200_000), to: 1_699_999_200_000_000_007n })).to.deep.equal([
      1_699_999_200_000_000_000n,
      1_699_999_200_000_000_007n,
      undefined
    ])
    expect(read({ sensors, from: -(2n ** 63n), to: 0n })).to.deep.equal([-(2n ** 63n), 0n, undefined])
  })

  it('lies around the time of a cycle', () => {
    expect(read({ sensors, at: formatTime(T0), windowMinutes: 1 }, 'cycle')).to.deep.equal([T0 - MINUTE, T0 + MINUTE, T0])
    expect(read({ sensors, at: T0, from: T0 - 1n }, 'cycle')).to.deep.equal([T0 - 1n, T0 + 60n * MINUTE, T0])
  })
})

describe('the query of a message', () => {
  const form = { query: 'raw', sensors: ['a'], from: 'then', to: 'now', windowMinutes: 5, limit: 10 }

  it('is that of the form where there is none in the message', () => {
    expect(queryAsked(form)).to.deep.equal({ name: 'raw', sensors: ['a'], from: 'then', to: 'now', windowMinutes: 5, limit: 10 })
  })

  it('overrides the form', () => {
    expect(queryAsked(form, { name: 'mean', sensors: ['b'], bucketHours: 2, limit: 3 })).to.include({
      name: 'mean',
      bucketHours: 2,
      limit: 3,
      from: 'then'
    }).and.to.deep.include({ sensors: ['b'] })
  })

  it('replaces all of the form\'s range, except its length', () => {
    expect(queryAsked(form, { to: 'then' })).to.include({ from: undefined, to: 'then', windowMinutes: 5 })
    expect(queryAsked(form, { windowMinutes: 1 })).to.include({ from: undefined, to: undefined, windowMinutes: 1 })
  })

  it('is refused where it is not a query', async () => {
    const messageOf = async (/** @type {unknown} */ asked) => (await failureOf(async () => queryAsked(form, asked))).message
    expect(await messageOf('SELECT 1')).to.match(/msg\.query is a string\. Make it an object such as/)
    expect(await messageOf(null)).to.match(/msg\.query is null/)
    expect(await messageOf([])).to.match(/msg\.query is a list/)
    expect(await messageOf({ sensor: 'a', lower: 1 })).to.match(
      /has "sensor", "lower", which the query "raw" does not know\. It knows sensors, from, to/
    )
    expect(await messageOf({ name: 'all' })).to.match(/no query "all"/)
  })
})
