import { expect } from 'chai'
import fc from 'fast-check'
import { fromCell, toCell } from '../../gateway/history/cells.js'
import { Recent } from '../../gateway/history/percentiles.js'

describe('Cells of the history', () => {
  it('know whole numbers up to 1024 exactly, of either sign', () => {
    for (let value = -1024; value <= 1024; value++) expect(fromCell(toCell(value))).to.equal(value)
  })

  it('know all others to 0.1 %', () => {
    fc.assert(fc.property(fc.double({ min: 1.6e-5, max: 2.8e14, noNaN: true }), value => {
      expect(fromCell(toCell(value))).to.be.closeTo(value, value * 0.001)
      expect(fromCell(toCell(-value))).to.be.closeTo(-value, value * 0.001)
    }))
  })

  it('tell nothing from zero', () => {
    for (const nothing of [null, undefined, NaN, 'text']) expect(toCell(nothing)).to.equal(0)
    for (const zero of [0, -0, 1e-9, -1e-9]) {
      expect(toCell(zero)).not.to.equal(0)
      expect(fromCell(toCell(zero))).to.equal(0)
    }
  })

  it('hold the greatest for what is greater', () => {
    expect(fromCell(toCell(Infinity))).to.equal(fromCell(toCell(1e30))).and.above(2.8e14)
  })
})

describe('Percentiles of the history', () => {
  it('are never better than they were, and at most 1.6 % worse', () => {
    const age = fc.record({ microseconds: fc.integer({ min: 0, max: 3_600_000_000 }), times: fc.integer({ min: 1, max: 50 }) })
    fc.assert(fc.property(fc.array(age, { minLength: 1 }), records => {
      const recent = new Recent()
      for (const { microseconds, times } of records) recent.record(microseconds, times)
      const all = records.flatMap(({ microseconds, times }) => new Array(times).fill(microseconds)).sort((a, b) => a - b)
      const taken = recent.take()
      for (const [name, share] of /** @type {const} */ ([['p50', 0.5], ['p99', 0.99]])) {
        const exact = all[Math.max(1, Math.round(share * all.length)) - 1]
        expect(taken?.[name]).to.be.within(exact, exact * 1.016 + 1)
      }
    }))
  })

  it('are of what came since they were taken last', () => {
    const recent = new Recent()
    expect(recent.take()).to.equal(null)
    recent.record(7000)
    recent.take()
    recent.record(5)
    expect(recent.take()).to.deep.equal({ p50: 5, p99: 5 })
    expect(recent.take()).to.equal(null)
  })

  it('count the future as now, and more than an hour as an hour', () => {
    const recent = new Recent()
    recent.record(-5)
    recent.record(1e12)
    expect(recent.take()).to.deep.equal({ p50: 0, p99: 3_600_000_000 })
  })
})
