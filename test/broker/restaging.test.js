import { expect } from 'chai'
import { Restaging } from '../../broker/out/restaging.js'

const name = (/** @type {number} */ seq) => ({ source: 'press', epoch: '1-a', seq })

describe('restaging', () => {
  it('of one batch happens once at a time: two copies would be two batches for a database that has neither', async () => {
    const { promise, resolve } = Promise.withResolvers()
    /** @type {number[][]} */
    const asked = []
    const spool = {
      restage: async (/** @type {{seq: number}[]} */ names) => {
        asked.push(names.map(({ seq }) => seq))
        await promise
        return names
      }
    }
    let staged = 0
    const restaging = new Restaging(/** @type {any} */ (spool), () => { staged++ })
    const first = restaging.restage([name(1), name(2)])
    const second = restaging.restage([name(2), name(3)], { inHalves: true })
    resolve(undefined)
    expect(await Promise.all([first, second])).to.deep.equal([2, 1])
    expect(asked).to.deep.equal([[1, 2], [3]])
    expect(staged).to.equal(2)
    expect(await restaging.restage([name(2)])).to.equal(1)
  })
})
