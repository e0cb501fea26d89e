import { expect } from 'chai'
import { readHead, Stream } from '../../broker/in/stream.js'

/** @typedef {[number, number][]} Ranges */

describe('what a consumer knows of a source', () => {
  const first = '1-aaaaaaaa'
  const second = '2-bbbbbbbb'
  let nowMs = 0
  /** @type {Stream} */
  let stream

  beforeEach(() => {
    nowMs = 0
    stream = new Stream('gw', 'press', () => nowMs)
  })

  /** @param {Record<string, [number, number]>} held @param {{spool?: string, lost?: Ranges}} [more] */
  const holds = (held, { spool = 'out', lost } = {}) => stream.setHead({
    spool,
    epochs: Object.entries(held).map(([epoch, [from, to]]) => ({ epoch, first: from, last: to, lost }))
  })

  /** @param {Record<string, Ranges>} epochs @param {string} [sink] */
  const stored = (epochs, sink = 'db') => {
    stream.setStored(sink, Object.entries(epochs).map(([epoch, ranges]) => ({ gateway: 'gw', source: 'press', epoch, ranges })))
  }

  /** As `epoch: first-last`. @param {{sinks?: string[], limit?: number, quiet?: boolean}} [options] */
  const missing = ({ sinks = ['db'], limit = 1000, quiet = false } = {}) =>
    stream.missing(sinks, { limit, quiet }).map(({ epoch, first: from, last: to }) => `${parseInt(epoch, 10)}: ${from}-${to}`)

  describe('lacks', () => {
    it('what is below a batch that came: it was sent before, and did not arrive', () => {
      holds({ [first]: [0, 9] })
      stored({ [first]: [[0, 2]] })
      stream.observe(first, 5)
      expect(missing()).to.deep.equal(['1: 3-4'])
    })

    it('what is above it only once the source is quiet: until then it may be on its way', () => {
      holds({ [first]: [0, 9] })
      stored({ [first]: [[0, 2]] })
      expect(missing()).to.deep.equal([])
      expect(missing({ quiet: true })).to.deep.equal(['1: 3-9'])
    })

    it('the end of an epoch once a later one has begun to come', () => {
      holds({ [first]: [0, 9], [second]: [0, 4] })
      stored({ [first]: [[0, 7]] })
      stream.observe(second, 0)
      expect(missing()).to.deep.equal(['1: 8-9'])
    })

    it('nothing of what a later epoch of an emptied spool has on its way, though that counts from 1 again', () => {
      holds({ '7-cccccccc': [0, 9] })
      stored({ '7-cccccccc': [[0, 9]] })
      stream.observe('7-cccccccc', 9)
      holds({ [first]: [0, 9] })
      stream.observe(first, 0)
      expect(missing()).to.deep.equal([])
    })

    it('nothing that the spool no longer holds, that is damaged there, in hand or parked', () => {
      holds({ [first]: [2, 9] }, { lost: [[4, 4]] })
      stored({})
      stream.hold(first, 6)
      stream.park(first, 8)
      expect(missing({ quiet: true })).to.deep.equal(['1: 2-3', '1: 5-5', '1: 7-7', '1: 9-9'])
      stream.release(first, 6)
      expect(missing({ quiet: true })).to.deep.equal(['1: 2-3', '1: 5-7', '1: 9-9'])
    })

    it('what any of its sinks lacks', () => {
      holds({ [first]: [0, 9] })
      stored({ [first]: [[0, 4], [8, 9]] }, 'db')
      stored({ [first]: [[0, 9]] }, 'archive')
      expect(missing({ sinks: ['archive'], quiet: true })).to.deep.equal([])
      expect(missing({ sinks: ['archive', 'db'], quiet: true })).to.deep.equal(['1: 5-7'])
    })

    it('the oldest first, and no more than there is room for', () => {
      holds({ [second]: [0, 9], [first]: [5, 9] })
      stored({})
      expect(missing({ quiet: true, limit: 8 })).to.deep.equal(['1: 5-9', '2: 0-2'])
    })

    it('nothing of an epoch that the head has stopped to name: all of it has left the spool', () => {
      holds({ [first]: [0, 9], [second]: [0, 4] })
      stored({})
      holds({ [second]: [0, 4] })
      expect(missing({ quiet: true })).to.deep.equal(['2: 0-4'])
    })
  })

  describe('counts', () => {
    it('as lost what the spool dropped before the sink had it', () => {
      holds({ [first]: [0, 9] })
      stored({ [first]: [[0, 2]] })
      holds({ [first]: [6, 20] })
      expect(stream.lost('db')).to.deep.equal({ lost: 3, shortfall: 0 })
    })

    it('as lost what is damaged, once, also when it is dropped later', () => {
      holds({ [first]: [0, 9] }, { lost: [[4, 5]] })
      stored({ [first]: [[0, 2]] })
      expect(stream.lost('db').lost).to.equal(2)
      holds({ [first]: [5, 9] }, { lost: [[4, 5]] })
      expect(stream.lost('db').lost).to.equal(3)
    })

    it('as lost the end of an epoch that the spool has let go of', () => {
      holds({ [first]: [0, 9], [second]: [0, 4] })
      stored({ [first]: [[0, 7]] })
      holds({ [second]: [0, 4] })
      expect(stream.lost('db').lost).to.equal(2)
    })

    it('as shortfall what was gone when a sink was new', () => {
      holds({ [first]: [1000, 1010] })
      stored({})
      expect(stream.lost('db')).to.deep.equal({ lost: 0, shortfall: 1000 })
    })

    it('the same after a restart, when that sink has stored the rest', () => {
      holds({ [first]: [1000, 1010], [second]: [3, 9] })
      stored({ [first]: [[1000, 1010]] })
      expect(stream.lost('db')).to.deep.equal({ lost: 3, shortfall: 1000 })
    })

    it('nothing before the database has told what it has', () => {
      holds({ [first]: [1000, 1010] })
      expect(stream.lost('db')).to.deep.equal({ lost: 0, shortfall: 0 })
      stored({ [first]: [[0, 1005]] })
      expect(stream.lost('db')).to.deep.equal({ lost: 0, shortfall: 0 })
    })
  })

  describe('tells the spools', () => {
    it('what is stored of the epochs they hold', () => {
      stored({ [first]: [[0, 9]], [second]: [[0, 3]] })
      stream.addStored('db', second, 4)
      holds({ [second]: [0, 9] })
      expect(JSON.parse(JSON.stringify(stream.storedRanges('db')))).to.deep.equal({ [second]: [[0, 4]] })
    })

    it('all that is stored, while it does not know what they hold', () => {
      stored({ [first]: [[0, 9]] })
      expect(JSON.parse(JSON.stringify(stream.storedRanges('db')))).to.deep.equal({ [first]: [[0, 9]] })
    })
  })

  describe('with two spools of one source', () => {
    const other = '1-dddddddd'

    it('keeps what each holds, whichever spoke last', () => {
      expect(holds({ [first]: [0, 9] }, { spool: 'one' })).to.equal(true)
      expect(holds({ [other]: [5, 9] }, { spool: 'two' })).to.equal(true)
      expect(holds({ [first]: [0, 9] }, { spool: 'one' })).to.equal(false)
      stored({ [first]: [[0, 9]], [other]: [[5, 6]] })
      expect(missing({ quiet: true })).to.deep.equal(['1: 7-9'])
      expect(Object.keys(stream.storedRanges('db'))).to.deep.equal([first, other])
    })

    it('forgets one that has been silent for minutes', () => {
      stored({})
      holds({ [first]: [0, 9] }, { spool: 'one' })
      nowMs = 120_000
      holds({ [other]: [0, 4] }, { spool: 'two' })
      expect(missing({ quiet: true })).to.deep.equal(['1: 0-4'])
    })
  })
})

describe('a head message', () => {
  const read = (/** @type {unknown} */ message) => readHead(Buffer.from(JSON.stringify(message)))

  it('is what a spool holds', () => {
    const head = { spool: 'out', epochs: [{ epoch: '1-aaaaaaaa', first: 0, last: 5, lost: /** @type {Ranges} */ ([[2, 3]]) }] }
    expect(read(head)).to.deep.equal(head)
  })

  for (const [what, message] of /** @type {[string, any][]} */ ([
    ['nothing', null],
    ['no epochs', {}],
    ['an epoch without a name', { epochs: [{ epoch: 5, first: 0, last: 1 }] }],
    ['an epoch that counts nothing', { epochs: [{ epoch: '__proto__', first: 0, last: 1 }] }],
    ['a seq that is no whole number', { epochs: [{ epoch: '1-a', first: 0.5, last: 1 }] }],
    ['a seq beyond what numbers can tell apart', { epochs: [{ epoch: '1-a', first: 0, last: 2 ** 60 }] }],
    ['an end before its beginning', { epochs: [{ epoch: '1-a', first: 5, last: 1 }] }],
    ['damage that is no range', { epochs: [{ epoch: '1-a', first: 0, last: 1, lost: [7] }] }]
  ])) {
    it(`is refused with ${what}`, () => expect(() => read(message)).to.throw())
  }
})
