import { expect } from 'chai'
import { fuzz } from './run.js'
import { targets } from './targets.js'

describe('Whatever others send', function () {
  it('is read or refused in 26,000 random cases, and takes neither long nor much', async () => {
    const { cases, byTarget, longestMs, failed, failures } = await fuzz(targets, { cases: 26_000, seed: 1 })
    expect(failures).to.deep.equal([])
    expect([failed, cases]).to.deep.equal([0, 26_000])
    expect(Object.keys(byTarget)).to.have.length(targets.length)
    expect(longestMs, JSON.stringify(byTarget)).to.be.below(2000)
    expect(byTarget.json.most.values, 'some cases do expand').to.be.above(10_000)
  })

  it('is the same cases for the same seed', async () => {
    const run = async (/** @type {number} */ seed) => {
      const { byTarget } = await fuzz(targets, { cases: 300, seed })
      return Object.values(byTarget).map(({ most }) => most.values)
    }
    expect(await run(2)).to.deep.equal(await run(2))
    expect(await run(2)).to.not.deep.equal(await run(3))
  })
})
