import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { open } from '../../gateway/databases/questdb/reader.js'
import { QuestdbDatabase } from './questdb-database.js'
import { batchOf, T0 } from '../databases/contract/batches.js'
import { samples } from '../queries/readings.js'
import { endlessTest, sourcesTest, storedContract, storing, WHOLE, wrongTableTest } from '../queries/stored.js'

describe('QuestDB reader', () => {
  const stored = storing(QuestdbDatabase.inSuite(), open)
  const { store, open: openReader } = stored

  storedContract(stored, ['wide', 'narrow'], {
    'distinguishes nanoseconds, also before 1970': 'its time begins in 1970: "distinguishes nanoseconds from 1970 on"',
    'begin their buckets at multiples, before 1970 too': 'its time begins in 1970',
    'keeps whole numbers exact': 'the least of 64 bits is NULL: "keeps whole numbers exact but for the least"'
  })

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

  sourcesTest(stored)
  endlessTest(stored)

  wrongTableTest(stored, /does not exist.*creates it/)
})
