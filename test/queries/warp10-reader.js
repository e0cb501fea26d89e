import { expect } from 'chai'
import { open } from '../../gateway/databases/warp10/reader.js'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { samples } from './readings.js'
import { endlessTest, sourcesTest, storedContract, storing, WHOLE } from './stored.js'

/** What the reader does on a server, real or not. @param {import('../databases/warp10-database.js').Warp10Database} database */
export function warp10ReaderTests (database) {
  const stored = storing(database, open)
  const { store, open: openReader } = stored

  storedContract(stored, ['wide'])

  sourcesTest(stored)
  endlessTest(stored)

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
