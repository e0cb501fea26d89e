import { expect } from 'chai'
import { READERS, TOTALS, WRITERS } from '../../../gateway/bench/studies/arnst/published.js'
import { percentOfMost, printedScores, publishedReadScores, ranks } from '../../../gateway/bench/studies/arnst/score.js'

describe('the score of Arnst, Plenk and Wöltche', () => {
  const writers = Object.values(WRITERS)
  const readers = Object.values(READERS)
  const rounded = (/** @type {number[]} */ scores, digits = 1) => scores.map(score => Number(score.toFixed(digits)))

  it('of the writers, by the printed formula, lies within 3 points of what is published', () => {
    const scores = printedScores(writers)
    expect(rounded(scores)).to.deep.equal([13.6, 56.6, 36.2, 52.4, 39.5])
    writers.forEach(({ score }, i) => expect(scores[i]).to.be.closeTo(score, 3))
  })

  it('of the readers is what is published where the difficulty costs nothing', () => {
    const scores = publishedReadScores(readers)
    expect(rounded(scores, 2)).to.deep.equal([70.97, 82.65, 49.95, 60.31, 92.59, 80.19, 81.79])
    expect(scores.map(Math.round)).to.deep.equal(readers.map(({ score }) => score))
  })

  it('of the readers, by the printed formula, is 4 to 8 points lower', () => {
    const scores = printedScores(readers)
    expect(rounded(scores)).to.deep.equal([64.8, 75.0, 45.3, 55.7, 88.0, 74.0, 75.6])
  })

  it('ranks the highest first, and gives equal ones the same place', () => {
    expect(ranks([43.4, 71, 42.9, 57, 66, 60, 61])).to.deep.equal(TOTALS.ranks)
    expect(ranks([1, 3, 3])).to.deep.equal([3, 1, 1])
  })

  it('takes what was not measured of every variant for none of them', () => {
    const [first, ...others] = writers
    const partly = [{ ...first, serverIo: undefined }, ...others]
    expect(printedScores(partly)).to.deep.equal(printedScores(writers.map(writer => ({ ...writer, serverIo: undefined }))))
  })

  it('shows costs in percent of the highest, and nothing for those that were not measured', () => {
    expect(percentOfMost([{ network: 50 }, { network: 200 }, {}], 'network')).to.deep.equal([25, 100, null])
    expect(percentOfMost([{ serverIo: 0 }], 'serverIo')).to.deep.equal([0])
  })
})
