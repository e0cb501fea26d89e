import { expect } from 'chai'
import { ResendRequests } from '../../broker/in/resend-requests.js'

describe('asking again', () => {
  const epoch = '1-aaaaaaaa'
  let nowMs = 0
  /** @type {ResendRequests} */
  let asks

  beforeEach(() => {
    nowMs = 0
    asks = new ResendRequests(() => nowMs)
  })

  /** @param {...[number, number]} ranges */
  const ask = (...ranges) => asks.next('gw/press', ranges.map(([first, last]) => ({ epoch, first, last })))

  /** How long nothing is asked for while all of it is missing. */
  function silenceMs () {
    const begin = nowMs
    while (ask([0, 9]) === null) nowMs += 10
    return nowMs - begin
  }

  it('asks at once for what is missing, and gives it time to come', () => {
    expect(ask([0, 4], [7, 9])).to.deep.equal({ [epoch]: [[0, 4], [7, 9]] })
    expect(ask([0, 4], [7, 9])).to.equal(null)
  })

  it('has nothing to ask for where nothing is missing', () => {
    expect(ask()).to.equal(null)
  })

  it('asks again later and later while nothing comes, never less than twice a minute', () => {
    ask([0, 9])
    for (const waitMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) expect(silenceMs()).to.be.within(0.75 * waitMs, 1.25 * waitMs + 10)
  })

  it('goes on waiting while something comes', () => {
    ask([0, 9])
    for (let missing = 1; missing < 9; missing++) {
      nowMs += 700
      expect(ask([missing, 9])).to.equal(null)
    }
  })

  it('begins with a short wait again once something has come', () => {
    ask([0, 99])
    for (let i = 0; i < 5; i++) silenceMs()
    ask([5, 9])
    nowMs += 1001
    expect(ask([5, 9])).to.deep.equal({ [epoch]: [[5, 9]] })
  })

  it('asks for the next at once when all that it asked for has come', () => {
    ask([0, 9])
    expect(ask([10, 19])).to.deep.equal({ [epoch]: [[10, 19]] })
  })

  it('asks each source for itself', () => {
    ask([0, 9])
    expect(asks.next('gw/oven', [{ epoch, first: 0, last: 3 }])).to.deep.equal({ [epoch]: [[0, 3]] })
  })

  it('asks anew after a reconnect: the request may never have arrived', () => {
    ask([0, 9])
    asks.clear()
    expect(ask([0, 9])).to.not.equal(null)
  })

  it('takes any text for the name of an epoch', () => {
    expect(JSON.stringify(asks.next('gw/press', [{ epoch: '__proto__', first: 0, last: 1 }]))).to.equal('{"__proto__":[[0,1]]}')
  })
})
