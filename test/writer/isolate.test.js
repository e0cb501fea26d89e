import { expect } from 'chai'
import fc from 'fast-check'
import { isolate } from '../../gateway/writer/isolate.js'
import { range } from './fake-sink.js'

describe('isolate', () => {
  it('finds every item that is at fault by itself, in about log2(n) questions each', async () => {
    const cases = fc.integer({ min: 1, max: 500 }).chain(count => {
      return fc.tuple(fc.constant(count), fc.uniqueArray(fc.nat(count - 1), { minLength: 1, maxLength: 10 }))
    })
    await fc.assert(fc.asyncProperty(cases, async ([count, bad]) => {
      let questions = 0
      const found = await isolate(count, async (from, to) => {
        questions++
        return bad.some(item => item >= from && item < to) ? 'bad' : null
      })
      expect([...found.keys()]).to.deep.equal(bad.toSorted((a, b) => a - b))
      expect(questions).to.be.at.most(bad.length * (2 * Math.ceil(Math.log2(count)) + 1))
    }), { numRuns: 2000 })
  })

  it('finds the last of those refused only together, when asked with all before', async () => {
    const found = await isolate(100, async (_from, to, before) => {
      const present = range(0, to).filter(item => !before.has(item))
      return present.includes(3) && present.includes(80) ? 'conflict' : null
    })
    expect([...found]).to.deep.equal([[80, 'conflict']])
  })

  it('blames no item when asked one by one there is no fault', async () => {
    expect([...await isolate(100, async (from, to) => from <= 3 && to > 80 ? 'conflict' : null)]).to.deep.equal([])
    expect([...await isolate(0, async () => 'never asked')]).to.deep.equal([])
  })
})
