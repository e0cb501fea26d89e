import { expect } from 'chai'
import { open } from '../../gateway/databases/hana/reader.js'
import { batchOf, failureOf } from '../databases/contract/batches.js'
import { HanaDatabase } from '../databases/hana-database.js'
import { readerContract } from './contract.js'
import { queryContract } from './queries.js'
import { samples } from './readings.js'

const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }

describe('SAP HANA reader, with a fake server', () => {
  const database = HanaDatabase.inSuite()

  const store = async (/** @type {object} */ options, /** @type {import('../../gateway/batch/batch.js').Batch[]} */ ...batches) => {
    const sink = await database.openSink(options)
    await sink.prepare(batches)
    await sink.write(batches)
  }

  const openReader = (/** @type {object} */ options = {}) => open({ table: 'press', ...options }, { server: database.connect() })

  /** @type {import('./contract.js').Harness} */
  const harness = {
    layouts: ['wide', 'narrow'],
    store: (layout, batches) => store({ layout }, ...batches),
    open: layout => openReader({ layout })
  }
  readerContract(harness)
  queryContract(harness)

  it('reads the sources of a table, or one of them', async () => {
    await store({ table: 'all' }, batchOf([1], { source: 'press' }), batchOf([2], { source: 'oven' }))
    const values = async (/** @type {object} */ options) => {
      return (await samples(await openReader({ table: 'all', ...options }), { sensors: ['force'], ...WHOLE })).map(({ value }) => value)
    }
    expect(await values({})).to.have.members([1, 2])
    expect(await values({ source: 'oven' })).to.deep.equal([2])
  })

  it('says which table it does not find, and which has another layout', async () => {
    await store({ table: 'wide' }, batchOf([1]))
    const failure = async (/** @type {object} */ options) => {
      const reader = await openReader(options)
      return failureOf(() => samples(reader, { sensors: ['force'], ...WHOLE }))
    }
    expect((await failure({})).message).to.match(/does not exist.*creates it/)
    expect((await failure({ table: 'wide', layout: 'narrow' })).message).to.match(/has no column "sensor".*another layout/)
  })
})
