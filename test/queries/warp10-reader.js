import { expect } from 'chai'
import { open } from '../../gateway/databases/warp10/reader.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { queryContract } from './queries.js'
import { samples } from './readings.js'

const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }

/** What the reader does on a server, real or not. @param {import('../databases/warp10-database.js').Warp10Database} database */
export function warp10ReaderTests (database) {
  /** @param {Record<string, unknown>} options @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const store = async (options, ...batches) => {
    const sink = await database.openSink(options)
    await sink.prepare(batches)
    await sink.write(batches)
  }

  const openReader = (/** @type {object} */ options = {}) => open({ table: 'press', ...options }, { server: database.connect() })

  /** @type {import('./contract.js').Harness} */
  const harness = {
    layouts: ['wide'],
    store: (_layout, batches) => store({}, ...batches),
    open: () => openReader()
  }
  readerContract(harness)
  queryContract(harness)

  it('reads the sources of an id in the order of time, or one of them', async () => {
    const time = (/** @type {number[]} */ ...ticks) => BigInt64Array.from(ticks, tick => T0 + BigInt(tick) * 1_000_000n)
    await store({ table: 'all' }, batchOf([1, 4, 5], { source: 'press', time: time(0, 12, 30) }))
    await store({ table: 'all' }, batchOf([2, 3, 6], { source: 'oven', time: time(1, 11, 31) }))
    const values = async (/** @type {object} */ options) => {
      return (await samples(await openReader({ table: 'all', ...options }), { sensors: ['force'], ...WHOLE })).map(({ value }) => value)
    }
    expect(await values({})).to.deep.equal([1, 2, 3, 4, 5, 6])
    expect(await values({ source: 'oven' })).to.deep.equal([2, 3, 6])
  })

  it('reads more points than it holds in memory, in the order of time', async () => {
    const count = 60_000
    await store({}, batchOf(Array.from({ length: count }, (_, i) => i), {
      time: BigInt64Array.from({ length: count }, (_, i) => T0 - T0 % 1000n + BigInt(i < count / 2 ? i : 1000 * i) * 1000n)
    }))
    const found = await samples(await openReader(), { sensors: ['force'], ...WHOLE })
    expect(found.length).to.equal(count)
    expect(found.every(({ value }, i) => value === i)).to.equal(true)
  })

  it('says which id it does not find', async () => {
    const reader = await openReader({ table: 'nowhere' })
    const error = await failureOf(() => samples(reader, { sensors: ['force'], ...WHOLE }))
    expect(error.code).to.equal('SLUICE_QUERY_TABLE')
    expect(error.message).to.match(/no series with the label id "nowhere".*creates series/)
  })
}
