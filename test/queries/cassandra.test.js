import { expect } from 'chai'
import { open } from '../../gateway/databases/cassandra/reader.js'
import { CassandraDatabase } from '../databases/cassandra-database.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { lookupContract } from './lookups.js'
import { queryContract } from './queries.js'
import { samples } from './readings.js'

const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }
const HOUR = 3_600_000_000_000n

describe('Cassandra reader', () => {
  const database = CassandraDatabase.inSuite()

  /** @param {Record<string, unknown>} options @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const store = async (options, ...batches) => {
    const sink = await database.openSink(options)
    await sink.prepare(batches)
    await sink.write(batches)
  }

  const openReader = (/** @type {object} */ options = {}) => open({ table: 'press', ...options }, { server: database.connect() })

  /** @type {import('./contract.js').Harness} */
  const harness = {
    layouts: ['wide', 'narrow', 'document'],
    store: (layout, batches) => store({ layout }, ...batches),
    open: layout => openReader({ layout })
  }
  readerContract(harness)
  queryContract(harness)
  lookupContract({ store, open: openReader })

  it('reads the whole range of time', async () => {
    const time = [-(2n ** 63n), -1n, 0n, T0, 2n ** 63n - 2n]
    await store({}, batchOf([1, 2, 3, 4, 5], { time: BigInt64Array.from(time) }))
    expect((await samples(await openReader(), { sensors: ['force'], ...WHOLE })).map(sample => sample.time)).to.deep.equal(time)
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
    expect(missing.message).to.match(/does not exist.*keyspace/)
    expect((await failure({ table: 'narrow' })).message).to.match(/is of the layout narrow.*layout of the sink/)
    expect((await failure({ table: 'narrow', layout: 'document' })).message).to.match(/is of the layout narrow.*layout of the sink/)
  })
})
