import { expect } from 'chai'
import fc from 'fast-check'
import { parseIdFilter, unionOf } from '../../../gateway/can/bus/id-filter.js'

const EXTENDED_FLAG = 0x80000000

/**
 * As the kernel does it: af_can.c.
 * @param {import('../../../gateway/can/bus/id-filter.js').KernelFilter[]} filters
 * @param {number} id
 * @param {boolean} extended
 */
function passes (filters, id, extended) {
  const received = (extended ? id | EXTENDED_FLAG : id) >>> 0
  return filters.some(filter => ((received & filter.mask) >>> 0) === ((filter.id & filter.mask) >>> 0))
}

describe('identifier filter', () => {
  /** @type {[string, [number, boolean][], [number, boolean][]][]} */
  const examples = [
    ['123', [[0x123, false]], [[0x124, false], [0x123, true]]],
    ['200-2FF', [[0x200, false], [0x2ff, false], [0x27a, false]], [[0x1ff, false], [0x300, false]]],
    ['123x', [[0x123, true]], [[0x123, false]]],
    ['18FEF100', [[0x18fef100, true]], [[0x18fef101, true]]],
    ['18FEF100x', [[0x18fef100, true]], [[0x18fef101, true]]],
    ['7E8:7F8', [[0x7e8, false], [0x7ef, false]], [[0x7e7, false], [0x7f0, false]]],
    ['FEF100x:3FFFF00', [[0x18fef1aa, true], [0x0cfef100, true]], [[0x18fef200, true]]],
    ['0-7FF, 0-1FFFFFFFx', [[0, false], [0x7ff, false], [0x1fffffff, true]], []],
    [' 1\n2;3 ', [[1, false], [2, false], [3, false]], [[4, false]]]
  ]
  for (const [text, wanted, others] of examples) {
    it(`${JSON.stringify(text)}`, () => {
      const filter = parseIdFilter(text)
      if (!filter?.kernel) throw new Error('a filter that the kernel takes was expected')
      for (const [id, extended] of wanted) {
        expect(filter.wants(id, extended)).to.equal(true)
        expect(passes(filter.kernel, id, extended)).to.equal(true)
      }
      for (const [id, extended] of others) {
        expect(filter.wants(id, extended)).to.equal(false)
        expect(passes(filter.kernel, id, extended)).to.equal(false)
      }
    })
  }

  it('is no filter where the text is empty', () => {
    expect(parseIdFilter(' ')).to.equal(null)
  })

  it('has the kernel select just what it wants', () => {
    fc.assert(fc.property(fc.nat(0x7FF), fc.nat(0x7FF), fc.nat(0x7FF), (one, other, id) => {
      const filter = parseIdFilter(`${Math.min(one, other).toString(16)}-${Math.max(one, other).toString(16)}`)
      expect(passes(filter?.kernel ?? [], id, false)).to.equal(filter?.wants(id, false))
      expect(passes(filter?.kernel ?? [], id, true)).to.equal(false)
    }), { seed: 4, numRuns: 3000 })
    fc.assert(fc.property(fc.nat(0x1FFFFFFF), fc.nat(0x1FFFFFFF), fc.nat(0x1FFFFFFF), (one, other, id) => {
      const filter = parseIdFilter(`${Math.min(one, other).toString(16)}x-${Math.max(one, other).toString(16)}x`)
      expect(passes(filter?.kernel ?? [], id, true)).to.equal(filter?.wants(id, true))
    }), { seed: 4, numRuns: 3000 })
  })

  it('is left to this process where the kernel would need too many', () => {
    const text = Array.from({ length: 513 }, (_, i) => (2 * i).toString(16)).join(' ')
    expect(parseIdFilter(text)?.kernel).to.equal(null)
    expect(parseIdFilter(text)?.wants(4, false)).to.equal(true)
  })

  it('joins those of several listeners, where each has one', () => {
    const [one, other] = [parseIdFilter('1'), parseIdFilter('2')]
    expect(unionOf([one, other])).to.deep.equal([...one?.kernel ?? [], ...other?.kernel ?? []])
    expect(unionOf([one, null])).to.equal(null)
    expect(unionOf([])).to.equal(null)
  })

  /** @type {[string, string][]} */
  const faults = [
    ['800', 'exceeds 11 bits'], ['20000000', 'exceeds 29 bits'], ['200-100', 'ends before it begins'],
    ['xyz', 'is not an identifier, range or mask'], ['1-2-3', 'is not an identifier, range or mask'],
    ['-5', 'is not an identifier, range or mask'], ['100-1000000000', 'is not an identifier, range or mask']
  ]
  for (const [text, fault] of faults) {
    it(`refuses ${text}: it ${fault}`, () => {
      expect(() => parseIdFilter(text)).to.throw(fault).with.property('code', 'SLUICE_CAN_FILTER')
    })
  }
})
