import { expect } from 'chai'
import { backoff } from '../../gateway/base/backoff.js'

describe('backoff', () => {
  const attempts = [0, 1, 2, 3, 4, 2000]

  it('doubles the wait up to its limit, however often it is tried', () => {
    expect(attempts.map(attempt => backoff(attempt, { first: 100, max: 1000 }))).to.deep.equal([100, 200, 400, 800, 1000, 1000])
  })

  it('leaves to chance the share of the wait that jitter says', () => {
    const waits = (/** @type {number} */ jitter) => {
      return [0, 0.5].map(drawn => backoff(1, { first: 100, max: 1000, jitter, random: () => drawn }))
    }
    expect(waits(1)).to.deep.equal([200, 100])
    expect(waits(0.5)).to.deep.equal([200, 150])
  })
})
