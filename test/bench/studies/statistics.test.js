import { expect } from 'chai'
import { box, quantile, summary } from '../../../gateway/bench/studies/statistics.js'

describe('statistics of a study', () => {
  it('give what papers print', () => {
    expect(summary([4, 1, 3, 2, 5])).to.deep.equal({ count: 5, min: 1, mean: 3, median: 3, p95: 4.8, max: 5, deviation: Math.sqrt(2.5) })
    expect(summary([7])).to.deep.include({ min: 7, p95: 7, max: 7, deviation: 0 })
    expect(summary([])).to.equal(null)
  })

  it('give the figures of a box plot', () => {
    expect(box([9, 1, 5, 3, 7])).to.deep.equal({ min: 1, lower: 3, median: 5, upper: 7, max: 9, mean: 5, count: 5 })
    expect(box([])).to.equal(null)
  })

  it('lie between two values by their distance', () => {
    expect(quantile([10, 20], 0.25)).to.equal(12.5)
  })
})
