import { expect } from 'chai'
import { mock } from 'node:test'
import { Looks } from '../../broker/in/looks.js'

describe('looks', () => {
  /** @type {Looks} */
  let looks
  let count = 0

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    count = 0
    looks = new Looks(() => { count++ })
  })
  afterEach(() => {
    looks.close()
    mock.timers.reset()
  })

  /** How often it has looked after each of these times. @param {...number} times  in milliseconds */
  const after = (...times) => times.map((ms, i) => {
    mock.timers.tick(ms - (times[i - 1] ?? 0))
    return count
  })

  it('are one for all that ask, when the first of them needs it', () => {
    for (const ms of [500, 250, 400]) looks.within(ms)
    expect(after(249, 250, 600)).to.deep.equal([0, 1, 1])
    looks.within(100)
    expect(after(100)).to.deep.equal([2])
  })

  it('end with their owner, who may still be asked', () => {
    looks.within(100)
    looks.close()
    looks.within(50)
    expect(after(200)).to.deep.equal([0])
  })
})
