import { expect } from 'chai'
import { scaleOf } from '../../../../gateway/bench/studies/report/chart/scale.js'
import { thinned } from '../../../../gateway/bench/studies/report/chart/thin.js'
import { logTicks, niceStep, timeStep } from '../../../../gateway/bench/studies/report/chart/ticks.js'

/** @param {Partial<import('../../../../gateway/bench/studies/report/chart/scale.js').ScaleOptions>} options */
const scale = options => scaleOf({ values: [], from: 0, to: 1000, count: 5, ...options })
/** Text and place. @param {ReturnType<typeof scale>} made */
const marks = made => made.ticks.map(({ value, text }) => [text.replace('\u202f', ' '), Math.round(made.at(value))])

describe('Axes of a report\'s charts', () => {
  describe('linear', () => {
    it('have steps of 1, 2 or 5 times a power of ten', () => {
      expect([10, 7, 33, 0.001, 1e9].map(span => niceStep(span, 5))).to.deep.equal([2, 2, 10, 0.0002, 2e8])
    })

    it('begin at 0 for bars, and end at the step above the largest value', () => {
      expect(marks(scale({ values: [90, 95], isForBars: true }))).to.deep.equal([
        ['0', 0], ['20', 200], ['40', 400], ['60', 600], ['80', 800], ['100', 1000]
      ])
    })

    it('let bars of negative values begin at 0, within the chart', () => {
      const made = scale({ values: [-10, 30], isForBars: true })
      expect(marks(made)).to.deep.equal([['−10', 0], ['0', 250], ['10', 500], ['20', 750], ['30', 1000]])
      expect(made.start).to.equal(250)
    })

    it('need not begin at 0 where values differ little', () => {
      expect(marks(scale({ values: [95, 97, 99] }))).to.deep.equal([['95', 0], ['96', 250], ['97', 500], ['98', 750], ['99', 1000]])
    })

    it('are there for one value, for 0 and for none', () => {
      expect(marks(scale({ values: [4] })).at(-1)).to.deep.equal(['4', 1000])
      for (const values of [[0], [], [null, NaN, 'text']]) expect(marks(scale({ values })).at(-1)).to.deep.equal(['1', 1000])
    })

    it('have no noise of binary fractions', () => {
      expect(marks(scale({ values: [0, 0.3], count: 3 })).map(([text]) => text)).to.deep.equal(['0', '0.1', '0.2', '0.3'])
    })
  })

  describe('logarithmic', () => {
    it('mark powers of ten, one as far from the next as any other', () => {
      expect(marks(scale({ values: [1, 10_000], isLog: true }))).to.deep.equal([
        ['1', 0], ['10', 250], ['100', 500], ['1 k', 750], ['10 k', 1000]
      ])
    })

    it('mark 1, 2 and 5 where there are less than three powers of ten', () => {
      expect(marks(scale({ values: [1, 48], isLog: true })).map(([text]) => text)).to.deep.equal(['1', '2', '5', '10', '20', '50'])
    })

    it('leave powers of ten without a text where there are many', () => {
      const { major, minor } = logTicks(1e-6, 1e9, 8)
      expect(major).to.deep.equal([1e-6, 1e-4, 0.01, 1, 100, 1e4, 1e6, 1e8])
      expect(minor).to.have.length(8)
    })

    it('begin below the smallest value for bars, so that each has a length', () => {
      const made = scale({ values: [10, 1000], isLog: true, isForBars: true })
      expect(made.at(10)).to.be.above(made.start + 10)
    })

    it('have no place for 0 and below, which then decide nothing', () => {
      const made = scale({ values: [0, -5, 10, 1000], isLog: true })
      expect([0, -5, NaN, null, 10].map(value => made.has(value))).to.deep.equal([false, false, false, false, true])
      expect(made.at(10)).to.equal(0)
      expect(made.at(0)).to.equal(0)
    })

    it('are there for one value and for none', () => {
      expect(marks(scale({ values: [1e-6], isLog: true })).map(([text]) => text)).to.deep.equal(['10⁻⁶', '2 × 10⁻⁶'])
      expect(marks(scale({ values: [0], isLog: true })).map(([text]) => text)).to.deep.equal(['1', '2', '5', '10'])
    })
  })

  describe('of time', () => {
    it('have steps that a clock has', () => {
      expect([5, 50, 300, 5400, 86_400].map(span => timeStep(span, 5))).to.deep.equal([1, 10, 60, 1800, 21_600])
    })

    it('are marked in minutes and hours', () => {
      expect(marks(scale({ values: [0, 5400], isTime: true, count: 4 }))).to.deep.equal([
        ['0:00', 0], ['30:00', 333], ['1:00:00', 667], ['1:30:00', 1000]
      ])
      expect(marks(scale({ values: [0, 20], isTime: true, count: 4 })).map(([text]) => text)).to.deep.equal(['0', '5', '10', '15', '20'])
    })
  })

  describe('with more points than pixels', () => {
    const points = Array.from({ length: 10_000 }, (_, x) => ({ x, y: x === 7777 ? 1e6 : x === 3333 ? -1e6 : x % 10 }))

    it('keep the highest and the lowest', () => {
      const kept = thinned(points, 100)
      expect(kept).to.have.length.at.most(200)
      expect(kept.map(point => point?.y)).to.include.members([1e6, -1e6])
      expect(kept.map(point => point?.x)).to.deep.equal(kept.map(point => point?.x).sort((a, b) => Number(a) - Number(b)))
    })

    it('keep the gaps', () => {
      const gap = points.map((point, i) => i >= 5000 && i < 6000 ? null : point)
      expect(thinned(gap, 100).filter(point => point === null)).to.have.length.above(8)
    })
  })
})
