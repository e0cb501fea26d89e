import { expect } from 'chai'
import { open } from '../../gateway/databases/hbase/reader.js'
import { batchOf, failureOf } from '../databases/contract/batches.js'
import { lookupContract } from '../queries/lookups.js'
import { endlessTest, sourcesTest, storedContract, storing, wholeRangeTest, wrongTableTest } from '../queries/stored.js'
import { HbaseDatabase } from './hbase-database.js'

describe('HBase reader', () => {
  const stored = storing(HbaseDatabase.inSuite(), open)

  storedContract(stored, ['wide', 'narrow'])
  lookupContract({ ...stored, hasDocuments: false })
  wholeRangeTest(stored)
  sourcesTest(stored)
  endlessTest(stored)
  wrongTableTest(stored, /does not exist.*namespace/)

  it('says by what the rows of a table are found', async () => {
    await stored.store({}, batchOf([1]))
    const reader = await stored.open()
    expect((await failureOf(async () => reader.byKey?.({ names: ['force'], keys: [[1]] }))).message).to.match(/has no key.*layout upsert/)
  })
})
