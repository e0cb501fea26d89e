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
    expect(silenceMs([[5, 9]])).to.be.at.most(1.25 * 2000 + 10)
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

  it('looks through what is missing again only where that has changed', () => {
    let looked = 0
    const missing = [{
      epoch,
      get first () {
        looked++
        return 0
      },
      last: 9_999
    }]
    requests.next(press, missing, 10)
    requests.next(press, missing, 0)
    looked = 0
    for (let i = 0; i < 5; i++) requests.next(press, missing, 0)
    expect(looked).to.equal(0)
    nowMs += 40_000
    expect(requests.next(press, missing, 10)?.epochs[epoch]).to.deep.equal([[0, 4], [10, 14]])
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
      ['gw', { sources: { drill: { [epoch]: [[0, 3]] }, oven: { [epoch]: [[0, 4]] } }, undelivered: {} }],
      ['hall', { sources: { drill: { [epoch]: [[5, 5]] } }, undelivered: {} }]
    ])
  })

  describe('of several streams', () => {
    /** @typedef {{gateway: string, source: string, missing: Ranges}} Lacking  a stream */
    const lacking = (/** @type {string} */ gateway, /** @type {string} */ source, /** @type {number} */ count) => {
      return { gateway, source, missing: /** @type {Ranges} */ ([[0, count - 1]]) }
    }
    /** How many batches are requested of each. @param {Lacking[]} streams @param {number} room */
    const counts = (streams, room) => {
      const all = requests.all(/** @type {any} */ (streams.map(stream => {
        return [stream, stream.missing.filter(([first, last]) => first <= last).map(([first, last]) => ({ epoch, first, last }))]
      })), room)
      return streams.map(({ gateway, source }) => {
        return (all.get(gateway)?.sources[source]?.[epoch] ?? []).reduce((sum, [first, last]) => sum + last - first + 1, 0)
      })
    }

    it('share the room: a flood in one leaves the other what it needs', () => {
      const [flood, lathe, oven] = [lacking('gw', 'flood', 100_000), lacking('gw', 'lathe', 40), lacking('gw', 'oven', 10)]
      expect(counts([flood, lathe, oven], 100)).to.deep.equal([50, 40, 10])
    })

    it('share it while the flood goes on: what comes of it is no reason to request more of it than of the other', () => {
      const [flood, lathe] = [lacking('gw', 'flood', 100_000), lacking('gw', 'lathe', 300)]
      for (let turn = 0; lathe.missing[0][0] < 300; turn++) {
        expect(turn).to.be.below(10)
        for (const [i, count] of counts([flood, lathe], 100).entries()) [flood, lathe][i].missing[0][0] += count
      }
    })

    it('take turns where there is room for one only', () => {
      const streams = [lacking('gw', 'flood', 1000), lacking('gw', 'lathe', 1000), lacking('hall', 'lathe', 1000)]
      const taken = [0, 0, 0]
      for (let turn = 0; turn < 40; turn++) {
        for (const [i, count] of counts(streams, 1).entries()) {
          taken[i] += count
          streams[i].missing[0][0] += count
        }
      }
      expect(taken).to.deep.equal([10, 10, 20])
    })

    it('share it by gateway first: one with a thousand sources takes no more than another with one', () => {
      const many = Array.from({ length: 1000 }, (_, i) => lacking('evil', `s${i}`, 1000))
      expect(counts([...many, lacking('gw', 'lathe', 1000)], 100).at(-1)).to.equal(50)
    })

    it('share what is on its way, too: of what never comes no more is requested while the other lacks something', () => {
      const [ghost, lathe] = [lacking('ghost', 'lathe', 1000), lacking('gw', 'lathe', 1000)]
      for (let turn = 0; turn < 10; turn++) {
        const [ofGhost, ofPress] = counts([ghost, lathe], 100)
        expect([ofGhost, ofPress]).to.deep.equal([turn === 0 ? 50 : 0, 50])
        lathe.missing[0][0] += ofPress
        nowMs += 50
      }
    })
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
