import { expect } from 'chai'
import { setImmediate as turn } from 'node:timers/promises'
import { manyAtOnce } from '../../gateway/base/many-at-once.js'

describe('Many at once', () => {
  it('are so many and no more, each once, begun in their order', async () => {
    /** @type {number[]} */
    const begun = []
    let [running, most] = [0, 0]
    await manyAtOnce(3, [5, 4, 3, 2, 1, 0], async turns => {
      begun.push(turns)
      most = Math.max(most, ++running)
      for (let i = 0; i < turns; i++) await turn()
      running--
    })
    expect({ begun, running, most }).to.deep.equal({ begun: [5, 4, 3, 2, 1, 0], running: 0, most: 3 })
  })

  for (const [what, things] of /** @type {const} */ ([['a list', [0, 1, 2, 3, 4, 5]], ['an iterator', [0, 1, 2, 3, 4, 5].values()]])) {
    it(`of ${what} fail with the first that does, and no more are begun`, async () => {
      /** @type {number[]} */
      const begun = []
      const error = await manyAtOnce(2, things, async thing => {
        begun.push(thing)
        await turn()
        if (thing === 1) throw new Error('one')
      }).catch(reason => reason)
      for (let i = 0; i < 10; i++) await turn()
      expect(error.message).to.equal('one')
      expect(begun.slice(0, 2)).to.deep.equal([0, 1])
      expect(begun.length).to.be.below(4)
    })
  }

  it('are not begun once they are given up', async () => {
    const giveUp = new AbortController()
    let begun = 0
    const reason = await manyAtOnce(2, Array(10), async () => {
      begun++
      await turn()
      giveUp.abort(new Error('given up'))
    }, giveUp.signal).catch(error => error)
    expect(reason.message).to.equal('given up')
    expect(begun).to.equal(2)
  })
})
