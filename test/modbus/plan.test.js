import { expect } from 'chai'
import fc from 'fast-check'
import { planReads, splitBlock } from '../../gateway/modbus/plan.js'

/**
 * @typedef {import('../../gateway/modbus/plan.js').Span} Span
 * @typedef {import('../../gateway/modbus/plan.js').Limits} Limits
 */

const LIMITS = { maxRegisters: 125, maxBits: 2000, maxGapRegisters: 16, maxGapBits: 256 }

/** @param {number} address @param {number} [count] @param {Span['area']} [area] @returns {Span} */
const tag = (address, count = 1, area = 'holding-registers') => ({ area, address, count })

/** @param {Span[]} tags @param {Partial<Limits>} [limits] */
const spans = (tags, limits) => planReads(tags, { ...LIMITS, ...limits }).map(({ address, count }) => [address, count])

describe('The plan of requests', () => {
  it('reads neighbours in one request, whatever their order in the table', () => {
    expect(spans([tag(4, 2), tag(0, 2), tag(2, 2)])).to.deep.equal([[0, 6]])
  })

  it('reads across gaps that are short enough', () => {
    expect(spans([tag(0), tag(17)])).to.deep.equal([[0, 18]])
    expect(spans([tag(0), tag(18)])).to.deep.equal([[0, 1], [18, 1]])
    expect(spans([tag(0), tag(2)], { maxGapRegisters: 0 })).to.deep.equal([[0, 1], [2, 1]])
  })

  it('reads no more than the device returns, and never half a value', () => {
    expect(spans([tag(0, 124), tag(124, 2)])).to.deep.equal([[0, 124], [124, 2]])
    expect(spans([tag(0, 4), tag(4, 4), tag(8, 4)], { maxRegisters: 10 })).to.deep.equal([[0, 8], [8, 4]])
  })

  it('reads each area by itself, bits with their own limits', () => {
    const tags = [tag(0, 1, 'coils'), tag(200, 1, 'coils'), tag(0), tag(0, 1, 'input-registers')]
    expect(spans(tags)).to.deep.equal([[0, 201], [0, 1], [0, 1]])
  })

  it('reads overlapping tags once', () => {
    expect(spans([tag(0, 4), tag(1), tag(2, 4), tag(2, 4)])).to.deep.equal([[0, 6]])
  })

  it('has the fewest requests possible', () => {
    const arbitraryTag = fc.record({
      area: fc.constant('holding-registers'),
      address: fc.integer({ min: 0, max: 24 }),
      count: fc.integer({ min: 1, max: 5 })
    })
    const arbitraryLimits = fc.record({ maxRegisters: fc.integer({ min: 5, max: 12 }), maxGapRegisters: fc.integer({ min: 0, max: 4 }) })
    fc.assert(fc.property(fc.array(arbitraryTag, { minLength: 1, maxLength: 6 }), arbitraryLimits, (tags, some) => {
      const limits = { ...LIMITS, ...some }
      const plan = planReads(/** @type {Span[]} */ (tags), limits)
      for (const block of plan) expect(isAllowed(block.tags, limits)).to.equal(true)
      expect(plan.flatMap(block => block.tags)).to.have.members(tags)
      expect(plan.length).to.equal(fewest(/** @type {Span[]} */ (tags), limits))
    }), { numRuns: 1000, seed: 4 })
  })

  it('splits a refused block at its widest gap', () => {
    const [block] = planReads([tag(0), tag(2), tag(9), tag(10)], LIMITS)
    expect(splitBlock(block)?.map(({ address, count }) => [address, count])).to.deep.equal([[0, 3], [9, 2]])
  })

  it('splits a block without gaps in the middle, and a single value not at all', () => {
    const [block] = planReads([0, 1, 2, 3].map(address => tag(address)), LIMITS)
    expect(splitBlock(block)?.map(({ address, count }) => [address, count])).to.deep.equal([[0, 2], [2, 2]])
    expect(splitBlock(planReads([tag(0, 4)], LIMITS)[0])).to.equal(null)
    expect(splitBlock(planReads([tag(0, 4), tag(1, 2)], LIMITS)[0])).to.have.length(2)
  })
})

/** Every way to share the tags out among requests, tried. @param {Span[]} tags @param {Limits} limits */
function fewest (tags, limits) {
  let best = tags.length
  const share = (/** @type {number} */ next, /** @type {Span[][]} */ parts) => {
    if (parts.length >= best && next < tags.length) return
    if (next === tags.length) {
      if (parts.every(part => isAllowed(part, limits))) best = Math.min(best, parts.length)
      return
    }
    for (const part of parts) {
      part.push(tags[next])
      share(next + 1, parts)
      part.pop()
    }
    share(next + 1, [...parts, [tags[next]]])
  }
  share(0, [])
  return best
}

/** @param {Span[]} tags @param {Limits} limits */
function isAllowed (tags, { maxRegisters, maxGapRegisters }) {
  const inOrder = [...tags].sort((a, b) => a.address - b.address)
  let end = inOrder[0].address
  for (const { address, count } of inOrder) {
    if (address - end > maxGapRegisters) return false
    end = Math.max(end, address + count)
  }
  return end - inOrder[0].address <= maxRegisters
}
