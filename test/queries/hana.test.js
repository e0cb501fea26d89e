import { expect } from 'chai'
import { open } from '../../gateway/databases/hana/reader.js'
import { batchOf, failureOf } from '../databases/contract/batches.js'
import { HanaDatabase } from '../databases/hana-database.js'
import { samples } from './readings.js'
import { endlessTest, sourcesTest, storedContract, storing, WHOLE } from './stored.js'

describe('SAP HANA reader, with a fake server', () => {
  const stored = storing(HanaDatabase.inSuite(), open)
  const { store, open: openReader } = stored

  storedContract(stored, ['wide', 'narrow'])
  sourcesTest(stored)
  endlessTest(stored)

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
