import { expect } from 'chai'
import { open } from '../../gateway/databases/hbase/reader.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from '../queries/contract.js'
import { lookupContract } from '../queries/lookups.js'
import { queryContract } from '../queries/queries.js'
import { samples } from '../queries/readings.js'
import { HbaseDatabase } from './hbase-database.js'

const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }

describe('HBase reader', () => {
  const database = HbaseDatabase.inSuite()

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
    open: layout => openReader({ layout })
  }
  readerContract(harness)
  queryContract(harness)
  lookupContract({ store, open: openReader, hasDocuments: false })

  it('reads the whole range of time', async () => {
    const time = [-(2n ** 63n), -1n, 0n, T0, 2n ** 63n - 2n]
    await store({}, batchOf([1, 2, 3, 4, 5], { time: BigInt64Array.from(time) }))
    expect((await samples(await openReader(), { sensors: ['force'], ...WHOLE })).map(sample => sample.time)).to.deep.equal(time)
  })

  it('reads the sources of a table in the order of time, or one of them', async () => {
    const time = (/** @type {bigint[]} */ ...after) => BigInt64Array.from(after, ns => T0 + ns)
    await store({ table: 'all' }, batchOf([1, 4], { source: 'press', time: time(0n, 12n) }))
    await store({ table: 'all' }, batchOf([2, 3], { source: 'oven', time: time(1n, 11n) }))
    const values = async (/** @type {object} */ options, range = WHOLE) => {
      return (await samples(await openReader({ table: 'all', ...options }), { sensors: ['force'], ...range })).map(({ value }) => value)
    }
    expect(await values({})).to.deep.equal([1, 2, 3, 4])
    expect(await values({ source: 'oven' })).to.deep.equal([2, 3])
    expect(await values({}, { from: T0 + 1n, to: T0 + 12n })).to.deep.equal([2, 3])
  })

  it('says which table it does not find, which has another layout, and by what rows are found', async () => {
    await store({ table: 'narrow', layout: 'narrow' }, batchOf([1]))
    const failure = async (/** @type {object} */ options) => {
      const reader = await openReader(options)
      return failureOf(() => samples(reader, { sensors: ['force'], ...WHOLE }))
    }
    const missing = await failure({})
    expect(missing.code).to.equal('SLUICE_QUERY_TABLE')
    expect(missing.message).to.match(/does not exist.*namespace/)
    expect((await failure({ table: 'narrow' })).message).to.match(/is of the layout narrow.*layout of the sink/)
    await store({ table: 'wide' }, batchOf([1]))
    const reader = await openReader({ table: 'wide' })
    expect((await failureOf(async () => reader.byKey?.({ names: ['force'], keys: [[1]] }))).message).to.match(/has no key.*layout upsert/)
  })
})
