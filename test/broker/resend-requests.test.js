import { expect } from 'chai'
import { ResendRequests } from '../../broker/in/resend-requests.js'

describe('resend requests', () => {
  const epoch = '1-aaaaaaaa'
  let nowMs = 0
  /** @type {ResendRequests} */
  let requests

  beforeEach(() => {
    nowMs = 0
    requests = new ResendRequests(() => nowMs)
  })

  /** @param {...[number, number]} ranges */
  const next = (...ranges) => requests.next('gw/press', ranges.map(([first, last]) => ({ epoch, first, last })))

  /** How long nothing is requested while all of it is missing. */
  function silenceMs () {
    const begin = nowMs
    while (next([0, 9]) === null) nowMs += 10
    return nowMs - begin
  }

  it('requests at once what is missing, and gives it time to come', () => {
    expect(next([0, 4], [7, 9])).to.deep.equal({ [epoch]: [[0, 4], [7, 9]] })
    expect(next([0, 4], [7, 9])).to.equal(null)
  })

  it('requests nothing where nothing is missing', () => {
    expect(next()).to.equal(null)
  })

  it('repeats a request later and later while nothing comes, at least about twice a minute', () => {
    next([0, 9])
    for (const waitMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      expect(silenceMs()).to.be.within(0.75 * waitMs, 1.25 * waitMs + 10)
    }
  })

  it('goes on waiting while something comes', () => {
    next([0, 9])
    for (let missing = 1; missing < 9; missing++) {
      nowMs += 700
      expect(next([missing, 9])).to.equal(null)
    }
  })

  it('begins with a short wait again once something has come', () => {
    next([0, 99])
    for (let i = 0; i < 5; i++) silenceMs()
    next([5, 9])
    nowMs += 1001
    expect(next([5, 9])).to.deep.equal({ [epoch]: [[5, 9]] })
  })

  it('requests the next at once when all that was requested has come', () => {
    next([0, 9])
    expect(next([10, 19])).to.deep.equal({ [epoch]: [[10, 19]] })
  })

  it('treats each source on its own', () => {
    next([0, 9])
    expect(requests.next('gw/oven', [{ epoch, first: 0, last: 3 }])).to.deep.equal({ [epoch]: [[0, 3]] })
  })

  it('repeats a request after a reconnect: the last one may never have arrived', () => {
    next([0, 9])
    requests.clear()
    expect(next([0, 9])).to.not.equal(null)
  })

  it('accepts any text as the name of an epoch', () => {
    expect(JSON.stringify(requests.next('gw/press', [{ epoch: '__proto__', first: 0, last: 1 }]))).to.equal('{"__proto__":[[0,1]]}')
  })
})
