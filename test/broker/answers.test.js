import { expect } from 'chai'
import { Commits } from '../../broker/in/commits.js'
import { Streams } from '../../broker/in/streams.js'
import { MAX_CONTROL_BYTES, readCommit } from '../../broker/control-messages.js'
import { observed } from './observed.js'
import { batchOf, FakeDatabase, until, wired } from './pipeline.js'

const STORE = '9d41'
const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i)

describe('the answers to the heads', () => {
  /** @type {Streams} */
  let streams
  /** @type {import('../../broker/control-messages.js').Commit[]} */
  let sent
  /** @type {Commits} */
  let commits

  beforeEach(() => {
    streams = new Streams()
    sent = []
    commits = new Commits(streams, (sink, gateway, commit) => { sent.push(commit) })
  })

  /** @param {string} source @param {string[]} epochs  of ten batches each */
  const sourceOf = (source, epochs) => ({
    source,
    rows: 10,
    replacedRows: 0,
    epochs: epochs.map(epoch => ({ epoch, first: 0, last: 9, before: 0, rows: 10, lost: [], replaced: [], doubt: [] }))
  })
  /** @param {string} source @param {string} epoch @param {number} first @param {number} [last] */
  const record = (source, epoch, first, last = first) => {
    return { gateway: 'gw', source, epoch, first, last, hash: 1, staged: 1, stored: 1, dead: 0, before: 0 }
  }
  /** @param {number} number @param {number} [beganMs] */
  const publish = (number, beganMs = 0) => commits.publish(wired('db'), () => ({ store: STORE, number, beganMs }))
  const sources = () => sent.map(commit => JSON.parse(JSON.stringify(commit.sources)))

  it('name what a database has nothing of, too: what a commit does not name keeps what was known of it', () => {
    streams.setHead('gw', 'out', [sourceOf('press', ['1-aaaaaaaa', '2-aaaabbbb'])])
    streams.read('db', [record('press', '2-aaaabbbb', 0)], 1)
    commits.read('db')
    publish(1)
    expect(sources()).to.deep.equal([{ press: { '1-aaaaaaaa': [], '2-aaaabbbb': [[0, 0, 1]] } }])
  })

  it('are cut into messages that a spool accepts, whatever the heads name', () => {
    const epochs = (/** @type {number} */ spool) => numbers(64).map(i => `${i}-${spool}00000000`)
    for (const spool of [1, 2]) streams.setHead('gw', `out ${spool}`, [sourceOf('press', epochs(spool))])
    const records = epochs(1).flatMap(epoch => numbers(700).map(i => ({ ...record('press', epoch, 2 * i), hash: 2 ** 47 })))
    streams.read('db', records, 1)
    streams.setHead('gw', 'many', numbers(1000).map(i => sourceOf(`tag ${i}`, ['1-cccc0000'])))
    streams.setHead('gw', 'more', [sourceOf('one more', ['1-dddd0000'])])
    commits.read('db')
    publish(1)
    const texts = sent.map(commit => Buffer.from(JSON.stringify(commit)))
    expect(Math.max(...texts.map(({ length }) => length))).to.be.below(MAX_CONTROL_BYTES)
    const named = texts.flatMap(text => Object.entries(readCommit(text).sources).flatMap(([source, its]) => {
      return Object.keys(its).map(epoch => `${source}/${epoch}`)
    }))
    expect(named).to.have.length(128 + 1001)
    expect(new Set(named)).to.have.length(128 + 1001)
  })

  it('end their ranges where the spool ends one: it cannot add up the hashes of what it lost', () => {
    const head = sourceOf('press', ['1-aaaaaaaa'])
    streams.setHead('gw', 'out', [{ ...head, epochs: [{ ...head.epochs[0], first: 2, lost: [[5, 6, 2]] }] }])
    streams.read('db', numbers(12).map(seq => record('press', '1-aaaaaaaa', seq)), 1)
    commits.read('db')
    publish(1)
    expect(sources()[0].press['1-aaaaaaaa']).to.deep.equal([[0, 1, 2], [2, 4, 3], [5, 6, 2], [7, 9, 3], [10, 11, 2]])
  })

  it('say which reading they are made from, and say nothing twice that nobody has asked for', () => {
    streams.setHead('gw', 'out', [sourceOf('press', ['1-aaaaaaaa'])])
    commits.read('db')
    publish(7)
    commits.read('db')
    publish(8)
    expect(sent.map(({ reading }) => reading)).to.deep.equal([[Math.round(performance.timeOrigin), 7]])
  })

  it('say it again to a head: the last answer may have been lost', () => {
    streams.setHead('gw', 'out', [sourceOf('press', ['1-aaaaaaaa'])])
    for (const number of [1, 2]) {
      commits.add('db', 'gw', { isForced: true })
      publish(number)
    }
    expect(sources()[1]).to.deep.equal(sources()[0])
  })

  it('wait for a reading that is as recent as the head; though heads come faster than that, each reading answers', () => {
    streams.setHead('gw', 'out', [sourceOf('press', ['1-aaaaaaaa'])])
    commits.add('db', 'gw', { isForced: true, sinceMs: 100 })
    commits.add('db', 'gw', { isForced: true, sinceMs: 200 })
    publish(1, 90)
    expect([sent.length, commits.isWaiting('db', 90)]).to.deep.equal([0, true])
    publish(2, 110)
    publish(2, 110)
    expect([sent.length, commits.isWaiting('db', 110)]).to.deep.equal([1, true])
    publish(3, 210)
    expect([sent.length, commits.isWaiting('db', 210)]).to.deep.equal([2, false])
  })

  describe('of a reader that comes back', () => {
    const rig = observed()

    it('know nothing of a database that was set back meanwhile: it is read first', async () => {
      const { it: stage } = await rig.pipeline.openStage()
      const database = new FakeDatabase('db')
      rig.pipeline.addSink(database)
      const { it: consumer } = await rig.pipeline.openConsumer(['db'])
      await rig.pipeline.produce(stage, 5)
      await until(() => database.rows.length === 5 && stage.spool.next() === null)
      const read = database.committed.bind(database)
      let answer = () => {}
      const asked = new Promise(resolve => { answer = () => resolve(undefined) })
      database.records.clear() // the server was restored, with all that is on it
      database.committed = async () => asked.then(read)
      await rig.restartBroker()
      const all = await rig.listen('sluice/v2/#')
      const about = (/** @type {string} */ topic) => all.filter(message => message.topic === topic)
      const heads = () => about('sluice/v2/gw/head/out')
      const answers = () => about('sluice/v2/reading/commit/db/gw')
      await until(() => consumer.state.connected && heads().length > 0)
      await stage.append(batchOf(99)) // another head
      const { length } = heads()
      await until(() => heads().length > length)
      expect(answers()).to.deep.equal([])
      answer()
      await until(() => answers().length > 0)
      const [[, ranges]] = /** @type {[string, any[]][]} */ (Object.entries(JSON.parse(String(answers()[0].payload)).sources.press))
      expect(ranges.filter(([first]) => first < 5)).to.deep.equal([])
    })
  })
})
