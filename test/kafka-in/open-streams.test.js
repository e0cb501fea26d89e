import { expect } from 'chai'
import { Streams } from '../../broker/in/streams.js'
import { OpenStreams } from '../../broker/kafka-in/open-streams.js'
import { identified } from '../../broker/kafka-in/units.js'
import { Batch } from '../../gateway/batch/batch.js'

const TOPIC = '00000000-0000-0000-0000-000000000001'
const OTHER = '00000000-0000-0000-0000-000000000002'

describe('Where streams of Kafka begin', () => {
  /** @type {Streams} */
  let streams
  /** @type {OpenStreams} */
  let open
  /** @type {string[]} */
  let committed

  beforeEach(() => {
    streams = new Streams()
    committed = []
    open = new OpenStreams({
      begin: 'earliest',
      sources: () => streams.of('cluster'),
      sinks: () => ['sink'],
      commit: ({ partition }, offset, note) => { committed.push(`${partition}: ${offset} ${note}`) },
      log: { info () {}, warn () {}, error () {} }
    })
  })

  const streamOf = (/** @type {number} */ partition, topicId = TOPIC) => ({ topic: 'plant', topicId, partition })

  /** The database has a unit. @param {number} partition @param {bigint} offset @param {string} [topicId] */
  function store (partition, offset, topicId) {
    const batch = new Batch({ source: 's', time: BigInt64Array.of(1n) })
    const message = /** @type {any} */ ({ leaderEpoch: 3, within: { first: offset, last: offset } })
    const [{ identity }] = identified(streamOf(partition, topicId), message, [batch], 'cluster')
    streams.get('cluster', 's').storedBy('sink').add(/** @type {any} */ (identity), 0)
  }

  /** @param {number} partition @param {{offset: bigint, note: string}|null} group */
  const begin = (partition, group, first = 20n) => {
    return open.begin({ stream: streamOf(partition), committed: group, first, end: 100n, isFirst: false })?.offset
  }

  it('is where the group is, for a database that has what was noted, and for a new one', () => {
    expect(begin(0, { offset: 60n, note: '50' })).to.equal(60n)
    store(0, 50n)
    store(1, 50n, OTHER)
    expect(begin(0, { offset: 60n, note: '50' })).to.equal(60n)
    expect(begin(0, { offset: 60n, note: 'of somebody else' })).to.equal(60n)
    expect(open.counters).to.deep.equal({ lost: 0, setBack: 0 })
  })

  it('is the first record for a database that was set back, also to before it had anything of the partition', () => {
    store(0, 40n)
    expect(begin(0, { offset: 60n, note: '50' })).to.equal(20n)
    expect(begin(1, { offset: 60n, note: '50' })).to.equal(20n)
    expect(open.counters).to.deep.equal({ lost: 0, setBack: 2 })
    expect(committed).to.deep.equal(['0: 20 ', '1: 20 ']) // so whoever goes on does as well
  })

  it('is nowhere where the stream has ended meanwhile, and what is to be read again remains to be', () => {
    store(0, 40n)
    const stream = streamOf(0)
    const assigned = { stream, committed: { offset: 60n, note: '' }, first: 20n, end: 100n, isFirst: false }
    expect(open.begin(assigned)?.offset).to.equal(60n)
    open.setBack(1)
    open.end(stream)
    expect(open.begin(assigned)).to.equal(undefined)
    expect(open.size).to.equal(0)
    expect(begin(0, { offset: 60n, note: '' })).to.equal(20n)
  })

  it('limits which commit records are merged: those around what somebody has skipped are not', () => {
    store(0, 50n)
    expect(begin(0, { offset: 60n, note: '50' })).to.equal(60n)
    expect(open.heads).to.have.length(1)
    expect(open.heads[0]).to.include({ first: 60, sparseFrom: 51 })
    expect(begin(0, { offset: 80n, note: '' })).to.equal(80n)
    expect(open.heads.map(({ sparseFrom }) => sparseFrom)).to.include(80)
  })
})
