import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { open } from '../../gateway/databases/questdb/reader.js'
import { QuestdbDatabase } from './questdb-database.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from '../queries/contract.js'
import { queryContract } from '../queries/queries.js'
import { samples } from '../queries/readings.js'

const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }
const HOUR = 3_600_000_000_000n

describe('QuestDB reader', () => {
  const database = QuestdbDatabase.inSuite()

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
      'distinguishes nanoseconds, also before 1970': 'its time begins in 1970: "distinguishes nanoseconds from 1970 on"',
      'begin their buckets at multiples, before 1970 too': 'its time begins in 1970',
      'keeps whole numbers exact': 'the least of 64 bits is NULL: "keeps whole numbers exact but for the least"'
    }
  }
  readerContract(harness)
  queryContract(harness)

  it('distinguishes nanoseconds from 1970 on', async () => {
    const time = [0n, 1n, T0, T0 + 1n, T0 + 999n, T0 + 1000n]
    await store({}, batchOf(time.map((_, i) => i), { time: BigInt64Array.from(time) }))
    const reader = await openReader()
    for (const [i, at] of time.entries()) {
      const found = await samples(reader, { sensors: ['force'], from: at, to: at + 1n })
      expect(found).to.deep.equal([{ time: at, sensor: 'force', value: i }])
    }
    expect(await samples(reader, { sensors: ['force'], ...WHOLE })).to.have.length(time.length)
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
