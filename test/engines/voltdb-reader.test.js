import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { open } from '../../gateway/databases/voltdb/reader.js'
import { VoltdbDatabase } from './voltdb-database.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from '../queries/contract.js'
import { queryContract } from '../queries/queries.js'
import { samples } from '../queries/readings.js'

const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }
const HOUR = 3_600_000_000_000n

describe('VoltDB reader', () => {
  const database = VoltdbDatabase.inSuite()

  /** @param {Record<string, unknown>} options @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const store = async (options, ...batches) => {
    const sink = await database.openSink(options)
    await sink.prepare(batches)
    await sink.write(batches)
  }

  const openReader = (/** @type {object} */ options = {}) => open({ table: 'press', ...options }, { server: database.connect() })

  /** @type {import('../queries/contract.js').Harness} */
  const harness = {
    layouts: ['wide', 'narrow'],
    store: (layout, batches) => store({ layout }, ...batches),
    open: layout => openReader({ layout }),
    differs: {
      'keeps other numbers exact': 'the least of doubles is NULL: "keeps numbers exact but for the least"',
      'keeps whole numbers exact': 'the least of 64 bits is NULL: "keeps whole numbers exact but for the least"'
    }
  }
  readerContract(harness)
  queryContract(harness)

  it('keeps numbers exact but for the least', async () => {
    const values = [0.1, 1 / 3, -1.69e308, Number.MIN_VALUE, 1e21, 2 ** 53, Infinity]
    await store({}, batchOf(values))
    expect((await samples(await openReader(), { sensors: ['force'], ...WHOLE })).map(({ value }) => value)).to.deep.equal(values)
  })

  it('keeps whole numbers exact but for the least', async () => {
    const counts = [0n, -7n, 2n ** 53n + 1n, 2n ** 63n - 1n, 1n - 2n ** 63n]
    await store({}, new Batch({
      source: 'press',
      time: BigInt64Array.from(counts, (_, i) => T0 + BigInt(i)),
      fields: [{ name: 'count', type: 'int64' }],
      columns: [BigInt64Array.from(counts)]
    }))
    const found = await samples(await openReader(), { sensors: ['count'], ...WHOLE })
    expect(found.map(({ value }) => value)).to.deep.equal([0, -7, ...counts.slice(2)])
  })

  it('reads the sources of a table in the order of time, or one of them', async () => {
    const time = (/** @type {number[]} */ ...hours) => BigInt64Array.from(hours, hour => T0 + BigInt(Math.round(hour * 10)) * HOUR / 10n)
    await store({ table: 'all' }, batchOf([1, 4, 5], { source: 'press', time: time(0, 1.2, 3) }))
    await store({ table: 'all' }, batchOf([2, 3, 6], { source: 'oven', time: time(0.1, 1.1, 3.1) }))
    const values = async (/** @type {object} */ options, range = WHOLE) => {
      return (await samples(await openReader({ table: 'all', ...options }), { sensors: ['force'], ...range })).map(({ value }) => value)
    }
    expect(await values({})).to.deep.equal([1, 2, 3, 4, 5, 6])
    expect(await values({ source: 'oven' })).to.deep.equal([2, 3, 6])
    expect(await values({}, { from: T0 + HOUR, to: T0 + 3n * HOUR })).to.deep.equal([3, 4])
  })

  it('reads page by page where many rows have the same time', async () => {
    const time = Array.from({ length: 25_000 }, (_, i) => T0 + BigInt(i < 24_000 ? 0 : i))
    await store({}, batchOf(time.map((_, i) => i), { time: BigInt64Array.from(time) }))
    const found = await samples(await openReader(), { sensors: ['force'], ...WHOLE })
    expect(found.map(({ value }) => value)).to.deep.equal(time.map((_, i) => i))
  })

  it('reads more of long texts than one answer may have', async () => {
    const notes = Array.from({ length: 200 }, (_, i) => `${i} `.padEnd(400_000, '.'))
    await store({}, batchOf(notes.map((_, i) => i), { fields: [{ name: 'note', type: 'string' }], columns: [notes] }))
    const found = await samples(await openReader(), { sensors: ['note'], ...WHOLE })
    expect(found.map(({ value }) => parseInt(String(value)))).to.deep.equal(notes.map((_, i) => i))
  })

  it('says which table it does not find, and which has another layout', async () => {
    await store({ table: 'narrow', layout: 'narrow' }, batchOf([1]))
    const failure = async (/** @type {object} */ options) => {
      const reader = await openReader(options)
      return failureOf(() => samples(reader, { sensors: ['force'], ...WHOLE }))
    }
    const missing = await failure({})
    expect(missing.code).to.equal('SLUICE_QUERY_TABLE')
    expect(missing.message).to.match(/does not exist.*creates it/)
    expect((await failure({ table: 'narrow' })).message).to.match(/is of the layout narrow.*layout of the sink/)
  })
})
