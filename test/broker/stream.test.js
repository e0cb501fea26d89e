import { expect } from 'chai'
import { addHashes } from '../../gateway/batch/hashes.js'
import { Stream } from '../../broker/in/stream.js'

/**
 * @typedef {[number, number][]} Ranges
 * @typedef {import('../../broker/in/head.js').HeadEpoch} HeadEpoch
 */

/** Rows of each batch. */
const ROWS = 10

describe('what a consumer knows of a source', () => {
  const first = '1-aaaaaaaa'
  const second = '2-aaaabbbb'
  /** @type {Stream} */
  let stream
  let readings = 0

  beforeEach(() => { stream = new Stream('gw', 'press', () => 0) })

  /** @param {Record<string, [number, number]>} held @param {{spool?: string, isAll?: boolean} & Partial<HeadEpoch>} [more] */
  const holds = (held, { spool = 'out', isAll = true, ...exceptions } = {}) => stream.setHead(spool, {
    source: 'press',
    rows: 1000,
    replacedRows: 0,
    epochs: Object.entries(held).map(([epoch, [from, to]]) => {
      return { epoch, first: from, last: to, before: from * ROWS, rows: (to + 1) * ROWS, lost: [], replaced: [], doubt: [], ...exceptions }
    })
  }, isAll)

  /** One record of each range, as a compaction leaves it. @param {Record<string, Ranges>} epochs @param {string} [sink] */
  const stored = (epochs, sink = 'db') => {
    const records = Object.entries(epochs).flatMap(([epoch, ranges]) => ranges.map(([from, to]) => record(epoch, from, to)))
    return stream.storedBy(sink).read(records, ++readings)
  }

  /** @param {string} epoch @param {number} from @param {number} [to] @returns {import('../../gateway/databases/sink.js').CommitRecord} */
  const record = (epoch, from, to = from) => {
    const rows = (to - from + 1) * ROWS
    const counts = { staged: rows, stored: rows, dead: 0, before: from * ROWS }
    return { gateway: 'gw', source: 'press', epoch, first: from, last: to, hash: from + 1, ...counts }
  }
  const commit = (/** @type {string} */ epoch, /** @type {number} */ seq, reading = readings) =>
    stream.storedBy('db').add({ gateway: 'gw', source: 'press', epoch, seq, hash: seq + 1, rows: ROWS, before: seq * ROWS }, reading)

  /** As `epoch: first-last`. @param {{sinks?: string[], quiet?: boolean}} [options] */
  const missing = ({ sinks = ['db'], quiet = false } = {}) =>
    stream.missing(sinks, { quiet }).map(({ epoch, first: from, last: to }) => `${parseInt(epoch, 10)}: ${from}-${to}`)

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

    it('perhaps something, as soon as a batch comes that does not follow the one before: nobody need look before', () => {
      const seqs = [[first, 0], [first, 1], [first, 3], [first, 2], [first, 4], [second, 0], [second, 1]]
      const news = seqs.map(([epoch, seq]) => stream.observe(String(epoch), Number(seq)))
      expect(news).to.deep.equal([true, false, true, false, false, true, false])
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

    it('nothing beyond what a head has said, whatever comes: anybody could name a seq', () => {
      holds({ [first]: [0, 4] })
      stored({ [first]: [[0, 4]] })
      stream.observe(first, 2 ** 50)
      expect(missing({ quiet: true })).to.deep.equal([])
    })

    it('nothing that the spool no longer holds, that is damaged or replaced there, in hand or parked', () => {
      holds({ [first]: [2, 12] }, { lost: [[4, 4, ROWS]], replaced: [[10, 11, 20]] })
      stored({})
      stream.hold({ epoch: first, seq: 6 })
      stream.park(first, 8, ROWS)
      expect(missing({ quiet: true })).to.deep.equal(['1: 2-3', '1: 5-5', '1: 7-7', '1: 9-9', '1: 12-12'])
      stream.release({ epoch: first, seq: 6 })
      stream.unpark()
      expect(missing({ quiet: true })).to.deep.equal(['1: 2-3', '1: 5-9', '1: 12-12'])
    })

    it('what any of its sinks lacks', () => {
      holds({ [first]: [0, 9] })
      stored({ [first]: [[0, 4], [8, 9]] }, 'db')
      stored({ [first]: [[0, 9]] }, 'archive')
      expect(missing({ sinks: ['archive'], quiet: true })).to.deep.equal([])
      expect(missing({ sinks: ['archive', 'db'], quiet: true })).to.deep.equal(['1: 5-7'])
    })

    it('the oldest first', () => {
      holds({ [second]: [0, 9], [first]: [5, 9] })
      stored({})
      expect(missing({ quiet: true })).to.deep.equal(['1: 5-9', '2: 0-9'])
    })

    it('nothing of an epoch that the head has stopped to name: all of it has left the spool', () => {
      holds({ [first]: [0, 9], [second]: [0, 4] })
      stored({})
      holds({ [second]: [0, 4] })
      expect(missing({ quiet: true })).to.deep.equal(['2: 0-4'])
    })

    it('nothing of a spool that is gone', () => {
      holds({ [first]: [0, 9] })
      stream.setHead('out', null)
      expect(missing({ quiet: true })).to.deep.equal([])
      expect(stream.headKnown).to.equal(false)
    })
  })

  it('is searched for what is missing only where something has changed, however often that is asked', () => {
    holds({ [first]: [0, 9], [second]: [0, 9] })
    stored({ [first]: [[0, 2]] })
    const known = stream.storedBy('db')
    const search = known.missing.bind(known)
    let searches = 0
    known.missing = (...range) => {
      searches++
      return search(...range)
    }
    const searchesOf = (/** @type {() => unknown} */ change) => {
      change()
      searches = 0
      for (let i = 0; i < 5; i++) missing({ quiet: true })
      return searches
    }
    expect(searchesOf(() => {})).to.equal(2)
    expect(searchesOf(() => {})).to.equal(0)
    const batch = { epoch: second, seq: 5 }
    for (const change of [
      () => stream.observe(second, 5), () => stream.hold(batch),
      () => stream.defer({ epoch: second, seq: 6, ancestors: [{ ...batch, hash: 1 }] }),
      () => stream.release(batch), () => stream.park(second, 7, ROWS), () => stream.unpark(), () => commit(second, 5),
      () => stored({ [first]: [[0, 5]] }), () => holds({ [first]: [1, 9], [second]: [0, 9] })
    ]) expect(searchesOf(change), String(change)).to.equal(2)
    expect(searchesOf(() => stream.observe(second, 4)), 'older than what came').to.equal(0)
    expect(searchesOf(() => stream.storedBy('new').read([], readings)), 'nothing read').to.equal(0)
  })

  it('notices what has left a spool without being known to be stored: another reader of the group may have stored it', () => {
    stored({ [first]: [[0, 4]] })
    expect(holds({ [first]: [0, 9] })).to.equal(false)
    expect(holds({ [first]: [5, 9] })).to.equal(false)
    expect(holds({ [first]: [7, 9] })).to.equal(true)
  })

  describe('after a reading', () => {
    it('keeps what was committed since that began, and nothing else that it lacks', () => {
      stored({ [first]: [[0, 2]] })
      commit(first, 3)
      const began = readings + 1
      commit(first, 4, began)
      expect(stream.storedBy('db').read([record(first, 0, 2)], began), 'batches gone').to.equal(1)
      expect([2, 3, 4].map(seq => stream.storedBy('db').has(first, seq))).to.deep.equal([true, false, true])
    })

    it('never shows dead letters as stored: what was committed since is in flight until it is read', () => {
      holds({ [first]: [0, 0] })
      stream.isQuiet = true
      commit(first, 0)
      expect(stream.balance('db')).to.include({ stored: 0, deadLetters: 0, inFlight: ROWS })
      stream.storedBy('db').read([{ ...record(first, 0), stored: ROWS - 3, dead: 3 }], readings + 1)
      expect(stream.balance('db')).to.include({ stored: ROWS - 3, deadLetters: 3, inFlight: 0 })
    })

    it('takes what no spool holds any more for lost only once a broker brings nothing of it, and what has come is stored', () => {
      const drops = (/** @type {number} */ from) => stream.setHead('out', {
        source: 'press',
        rows: 10 * ROWS,
        replacedRows: 0,
        epochs: [{ epoch: first, first: from, last: 9, before: from * ROWS, rows: 10 * ROWS, lost: [], replaced: [], doubt: [] }]
      })
      const lost = () => {
        const { produced, ...terms } = stream.balance('db')
        expect(Object.values(terms).reduce((sum, rows) => sum + rows), 'balance').to.equal(produced)
        return terms.lost / ROWS
      }
      stored({ [first]: [[0, 2]] })
      drops(5)
      expect(lost(), 'the broker may have it').to.equal(0)
      stream.observe(first, 3)
      stream.hold({ epoch: first, seq: 3 })
      stream.observe(first, 5)
      expect(lost(), 'one has come').to.equal(0)
      stream.release({ epoch: first, seq: 3 })
      stored({ [first]: [[0, 3]] })
      expect(lost(), 'the other was overtaken').to.equal(1)
      drops(8)
      expect(lost(), 'what is known to be lost stays so').to.equal(1)
      stream.isQuiet = true
      expect(lost()).to.equal(4)
    })

    it('counts no batch twice that it has and that was committed meanwhile', () => {
      holds({ [first]: [0, 4] })
      commit(first, 0, 1)
      stream.storedBy('db').read([record(first, 0)], 1)
      expect(stream.balance('db')).to.include({ stored: ROWS })
    })
  })

  describe('answers the spools', () => {
    it('with what was read of the epochs that they hold, and not with what it believes', () => {
      stored({ [first]: [[0, 9]], [second]: [[0, 3]] })
      holds({ [second]: [0, 9] })
      commit(second, 4)
      expect(stream.runs('db', 1000)).to.deep.equal({ [second]: [[0, 3, 1]] })
    })

    it('with sums of consecutive records', () => {
      holds({ [first]: [0, 9] })
      stored({ [first]: [[0, 3], [4, 4], [6, 6]] })
      expect(stream.runs('db', 1000)).to.deep.equal({ [first]: [[0, 4, addHashes(1, 5)], [6, 6, 7]] })
    })

    it('with each record alone of those that a spool is in doubt of', () => {
      holds({ [first]: [0, 9] }, { doubt: [[2, 3]] })
      stored({ [first]: [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5]] })
      expect(stream.runs('db', 1000)).to.deep.equal({ [first]: [[0, 1, 3], [2, 2, 3], [3, 3, 4], [4, 5, 11]] })
    })
  })

  describe('names for compaction', () => {
    const heads = () => stream.heads().map(({ epoch, first: from, last }) => [epoch, from, last])

    it('what the spools hold, and as over what they no longer name', () => {
      holds({ [second]: [3, 9] })
      stored({ [first]: [[0, 9]], [second]: [[0, 5]], '9-aaaaeeee': [[0, 2]] })
      expect(heads()).to.deep.equal([[second, 3, 9], [first, 10, 9], ['9-aaaaeeee', 0, 2]])
    })

    it('nothing as over before its own spool has said so: others may have later epochs', () => {
      holds({ '5-dddddddd': [0, 9] }, { spool: 'other' })
      stored({ [first]: [[0, 9]] })
      expect(heads()).to.deep.equal([['5-dddddddd', 0, 9], [first, 0, 9]])
    })

    it('nothing as over that a head may have had no room for', () => {
      stored({ [first]: [[0, 9]] })
      holds({ [second]: [3, 9] }, { isAll: false })
      expect(heads()).to.deep.equal([[second, 3, 9], [first, 0, 9]])
    })
  })

  describe('with two spools of one source', () => {
    const other = '1-dddddddd'

    it('keeps what each holds, whichever spoke last', () => {
      holds({ [first]: [0, 9] }, { spool: 'one' })
      holds({ [other]: [5, 9] }, { spool: 'two' })
      holds({ [first]: [0, 9] }, { spool: 'one' })
      stored({ [first]: [[0, 9]], [other]: [[5, 6]] })
      expect(missing({ quiet: true })).to.deep.equal(['1: 7-9'])
      expect(Object.keys(stream.runs('db', 1000)).sort()).to.deep.equal([first, other])
    })

    it('counts what each has produced', () => {
      holds({ [first]: [0, 9] }, { spool: 'one' })
      holds({ [other]: [5, 9] }, { spool: 'two' })
      expect(stream.balance('db').produced).to.equal(2000)
    })
  })
})
