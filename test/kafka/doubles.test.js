import { expect } from 'chai'
import { Doubles } from '../../gateway/kafka/doubles.js'

describe('A double of a member of a Kafka group', () => {
  it('is one of its name that is there at two looks, and not one that has died or another each time', async () => {
    /** @type {(string[]|null)[]} */
    const looks = [['dead'], [], ['one'], ['other'], null, ['other'], ['other', 'third'], ['third'], []]
    const membership = /** @type {any} */ ({
      namesakes: async () => {
        const ids = looks.shift()
        if (!ids) throw new Error('no answer')
        return ids
      }
    })
    /** @type {number[]} how many looks were left */
    const told = []
    const doubles = new Doubles({ membership, sessionMs: 0, onDouble: () => { told.push(looks.length) } })
    while (looks.length > 0) await doubles.look()
    expect(told).to.deep.equal([2, 1])
  })

  it('is looked for seldom', async () => {
    let looks = 0
    const membership = /** @type {any} */ ({ namesakes: async () => { looks++; return [] } })
    const doubles = new Doubles({ membership, sessionMs: 3_600_000, onDouble () {} })
    for (let i = 0; i < 5; i++) await doubles.look()
    expect(looks).to.equal(1)
  })
})
