import { expect } from 'chai'
import { ResendRequests } from '../../broker/in/resend-requests.js'

/** @typedef {[number, number][]} Ranges */

describe('resend requests', () => {
  const epoch = '1-aaaaaaaa'
  const press = { gateway: 'gw' }
  const ROOM = 1000
  let nowMs = 0
  /** @type {ResendRequests} */
  let requests

  beforeEach(() => {
    nowMs = 0
    requests = new ResendRequests(() => nowMs)
  })

  /** @param {Ranges} ranges  missing @param {number} [room] @param {{gateway: string}} [stream] */
  const wanted = (ranges, room = ROOM, stream = press) => {
    return requests.next(stream, ranges.map(([first, last]) => ({ epoch, first, last })), room)
  }
  const next = (/** @type {Parameters<typeof wanted>} */ ...missing) => wanted(...missing)?.epochs[epoch] ?? null

  /** How long nothing is requested while all of it is missing. @param {Ranges} [ranges] */
  function silenceMs (ranges = [[0, 0]]) {
    const begin = nowMs
    while (next(ranges) === null) nowMs += 10
    return nowMs - begin
  }

  it('requests at once what is missing, and gives it time to come', () => {
    expect(next([[0, 4], [7, 9]])).to.deep.equal([[0, 4], [7, 9]])
    expect(next([[0, 4], [7, 9]])).to.equal(null)
  })

  it('requests nothing where nothing is missing', () => {
    expect(next([])).to.equal(null)
    expect(requests.isEmpty).to.equal(true)
  })

  it('requests the oldest first, and no more than there is room for', () => {
    expect(next([[0, 4], [7, 9]], 6)).to.deep.equal([[0, 4], [7, 7]])
    expect(requests.expected).to.equal(6)
    expect(next([[0, 4], [7, 9]], 0)).to.equal(null)
  })

  it('repeats a request later and later while nothing comes, at least about twice a minute', () => {
    next([[0, 0]])
    for (const waitMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      expect(silenceMs()).to.be.within(0.75 * waitMs, 1.25 * waitMs + 10)
    }
  })

  it('goes on waiting while something comes', () => {
    next([[0, 9]])
    for (let missing = 1; missing < 9; missing++) {
      nowMs += 700
      expect(next([[missing, 9]])).to.equal(null)
    }
  })

  it('begins with a short wait again once something has come', () => {
    next([[0, 9]])
    for (let i = 0; i < 5; i++) {
      nowMs += 40_000
      next([[0, 9]])
    }
    next([[5, 9]])
    nowMs += 40_000
    next([[5, 9]])
    expect(silenceMs([[5, 9]])).to.be.below(2500)
  })

  it('requests the next at once when all that was requested has come', () => {
    next([[0, 9]], 10)
    expect(next([[10, 19]])).to.deep.equal([[10, 19]])
  })

  /** All of it is requested again and again, in vain, while others come. @param {Ranges} ranges */
  function inVain (ranges) {
    for (let i = 0; i < 5; i++) {
      next(ranges)
      nowMs += 10
      requests.came('gw')
      nowMs += 40_000
    }
    next(ranges)
    next(ranges)
  }

  it('requests what is behind a range that never comes: that holds up no other', () => {
    inVain([[0, 99]]) // a lost tail as large as all the room
    nowMs += 1000
    expect(requests.expected).to.equal(0)
    expect(next([[0, 99], [100, 150]], 100)).to.deep.equal([[100, 150]])
  })

  it('requests again at once what has found no room', () => {
    inVain([[0, 9]])
    for (const seq of [3, 4]) requests.overflowed(press, epoch, seq)
    expect(next([[0, 9]])).to.deep.equal([[3, 4]])
  })

  it('asks a gateway that does not answer for no more than one batch', () => {
    next([[0, 499]])
    nowMs += 40_000
    next([[0, 999]])
    nowMs += 40_000
    expect(next([[0, 999]])).to.deep.equal([[0, 0]])
    expect(requests.expected).to.equal(1)
    requests.came('gw')
    nowMs += 40_000
    expect(next([[0, 999]], 2000)).to.deep.equal([[0, 999]])
  })

  it('asks a gateway that does not answer for the newest as well: what it may have lost holds up no other', () => {
    inVain([[0, 9]])
    nowMs += 40_000
    next([[0, 9]])
    nowMs += 40_000
    expect(next([[0, 9], [20, 29]])).to.deep.equal([[0, 0], [29, 29]])
    requests.came('gw')
    expect(next([[0, 9], [20, 28]])).to.deep.equal([[1, 9], [20, 28]])
  })

  it('names as undelivered what was requested three times while others came', () => {
    next([[7, 7]])
    for (const isNamed of [false, false, true]) {
      nowMs += 10
      requests.came('gw')
      nowMs += 40_000
      expect(wanted([[7, 7]])?.undelivered[epoch]).to.deep.equal(isNamed ? [7] : undefined)
    }
  })

  it('names nothing as undelivered while nothing comes at all', () => {
    next([[7, 7]])
    for (let i = 0; i < 10; i++) {
      nowMs += 40_000
      expect(wanted([[7, 7]])?.undelivered).to.deep.equal({})
    }
  })

  it('puts all of a gateway into one message', () => {
    /** @type {any[]} */
    const [drill, oven] = ['drill', 'oven'].map(source => ({ gateway: 'gw', source }))
    const other = /** @type {any} */ ({ gateway: 'hall', source: 'drill' })
    const all = requests.all([
      [drill, [{ epoch, first: 0, last: 3 }]],
      [oven, [{ epoch, first: 0, last: 9 }]],
      [other, [{ epoch, first: 5, last: 5 }]]
    ], 10)
    expect(JSON.parse(JSON.stringify([...all]))).to.deep.equal([
      ['gw', { sources: { drill: { [epoch]: [[0, 3]] }, oven: { [epoch]: [[0, 5]] } }, undelivered: {} }]
    ])
  })

  it('repeats a request after a reconnect: the last one may never have arrived', () => {
    next([[0, 9]])
    requests.clear()
    expect(next([[0, 9]])).to.not.equal(null)
  })

  it('accepts any text as the name of an epoch', () => {
    const request = requests.next(press, [{ epoch: '__proto__', first: 0, last: 1 }], ROOM)
    expect(JSON.stringify(request?.epochs)).to.equal('{"__proto__":[[0,1]]}')
  })
})
