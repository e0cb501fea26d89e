import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { open } from '../../gateway/databases/voltdb/reader.js'
import { VoltdbDatabase } from './voltdb-database.js'
import { batchOf, T0 } from '../databases/contract/batches.js'
import { samples } from '../queries/readings.js'
import { endlessTest, sourcesTest, storedContract, storing, WHOLE, wrongTableTest } from '../queries/stored.js'

describe('VoltDB reader', () => {
  const stored = storing(VoltdbDatabase.inSuite(), open)
  const { store, open: openReader } = stored

  storedContract(stored, ['wide', 'narrow'], {
    'keeps other numbers exact': 'the least of doubles is NULL: "keeps numbers exact but for the least"',
    'keeps whole numbers exact': 'the least of 64 bits is NULL: "keeps whole numbers exact but for the least"'
  })

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

  sourcesTest(stored)
  endlessTest(stored)

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

  wrongTableTest(stored, /does not exist.*creates it/)
})
