import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { open } from '../../gateway/databases/sqlite/sink.js'
import { Retention } from '../../gateway/writer/retention.js'
import { batchOf } from '../databases/contract/batches.js'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const START_MS = 20_000 * DAY_MS

const ns = (/** @type {number} */ ms) => BigInt(ms) * 1_000_000n

describe('Retention', () => {
  /** The monotonic clock, and how far the wall clock is from it; that is null while it is not set. */
  let elapsedMs = 0
  /** @type {number|null} */
  let offsetMs = START_MS
  /** Times of rows, in milliseconds since 1970. @type {number[]} */
  let stored = []
  /** @type {{before: number, maxRows: number, pausedMs?: number}[]} */
  let turns = []
  /** How long a turn takes. */
  let turnMs = (/** @type {number} */ _turn) => 1
  /** @type {Error|null} */
  let failure = null
  /** @type {string[]} */
  let log = []
  let looks = 0
  /** @type {Retention[]} */
  let opened = []

  beforeEach(() => {
    [elapsedMs, offsetMs, stored, turns, turnMs, failure, log, looks, opened] = [0, START_MS, [], [], () => 1, null, [], 0, []]
  })
  afterEach(() => { for (const each of opened) each.close() })

  const nowMs = () => elapsedMs + Number(offsetMs)
  const sink = {
    async span () {
      looks++
      if (failure) throw failure
      return stored.length === 0 ? null : { oldest: ns(Math.min(...stored)), newest: ns(Math.max(...stored)) }
    },
    async removeBefore (/** @type {bigint} */ before, /** @type {{maxRows: number}} */ { maxRows }) {
      const limit = Number(before / 1_000_000n)
      const old = stored.filter(time => time < limit).sort((a, b) => a - b).slice(0, maxRows)
      const gone = new Set(old)
      stored = stored.filter(time => !gone.has(time))
      elapsedMs += turnMs(turns.push({ before: limit, maxRows }))
      return gone.size
    }
  }
  const meter = { expired: 0 }

  const retain = (keepDays = 1) => {
    meter.expired = 0
    const retention = new Retention({
      sink,
      keepDays,
      meter,
      log: { info () {}, warn: text => { log.push(text) }, error () {} },
      clock: {
        start () {},
        now: () => offsetMs === null ? null : ns(nowMs()),
        monotonicMs: () => elapsedMs,
        async sleep (ms) {
          turns[turns.length - 1].pausedMs = ms
          elapsedMs += ms
        }
      }
    })
    opened.push(retention)
    return retention
  }

  /** What the heartbeat does, over so long a time. @param {Retention} retention @param {number} ms */
  const pass = async (retention, ms) => {
    const endMs = elapsedMs + ms
    for (; elapsedMs < endMs; elapsedMs += MINUTE_MS / 2) await retention.check()
    await retention.check()
  }
  /** Rows from so many hours ago until now. @param {number} hours */
  const fill = hours => { stored = Array.from({ length: hours + 1 }, (_, i) => nowMs() - i * 3_600_000) }
  const oldestHours = () => Math.round((nowMs() - Math.min(...stored)) / 3_600_000)

  it('removes rows that are older than it keeps them, and counts them', async () => {
    fill(30)
    const retention = retain()
    await pass(retention, 3_600_000)
    expect(meter.expired).to.equal(6)
    expect(oldestHours()).to.equal(25)
    expect(retention.state().oldestRow).to.match(/^2024-10-0\dT/)
    expect(turns[0].before).to.be.closeTo(START_MS - DAY_MS, 2 * 3_600_000)
  })

  it('waits until there are enough of them, and looks seldom', async () => {
    fill(25)
    await pass(retain(), 20 * MINUTE_MS)
    expect(turns, 'the oldest is less than a twentieth too old').to.deep.equal([])
    expect(looks, 'a hundredth of a day apart').to.equal(1)
    await pass(opened[0], 60 * MINUTE_MS)
    fill(26)
    await pass(opened[0], 60 * MINUTE_MS)
    expect(turns).to.have.length(1)
    expect(looks).to.be.most(11)
  })

  it('removes nothing while the clock is not set, nor before it has been for ten minutes', async () => {
    fill(100)
    offsetMs = null
    const retention = retain()
    await pass(retention, 3_600_000)
    offsetMs = START_MS
    await pass(retention, 9 * MINUTE_MS)
    expect([looks, turns]).to.deep.equal([0, []])
    await pass(retention, 2 * MINUTE_MS)
    expect(turns).not.to.deep.equal([])
  })

  it('removes nothing by a clock that has jumped forward, until it has stayed there for ten minutes', async () => {
    fill(20)
    const retention = retain()
    await pass(retention, 60 * MINUTE_MS)
    offsetMs = START_MS + 365 * DAY_MS
    stored.push(nowMs()) // stamped by that clock
    await pass(retention, 9 * MINUTE_MS)
    offsetMs = START_MS
    await pass(retention, 60 * MINUTE_MS)
    expect(turns).to.deep.equal([])
  })

  it('counts the age of rows against the newest where that is earlier than the clock', async () => {
    fill(100)
    offsetMs = START_MS + 365 * DAY_MS
    await pass(retain(), 60 * MINUTE_MS)
    expect(stored).to.have.length(25)
  })

  it('removes many in turns that become as long as they should be, and rests in between', async () => {
    stored = Array.from({ length: 20_000 }, (_, i) => START_MS - 10 * DAY_MS + i)
    stored.push(START_MS)
    turnMs = turn => turn < 4 ? 5 : 40
    await pass(retain(), 30 * MINUTE_MS)
    expect(meter.expired).to.equal(20_000)
    expect(turns.map(({ maxRows }) => maxRows)).to.deep.equal([1000, 2000, 4000, 8000, 4000, 2000])
    expect(turns.map(({ pausedMs }) => pausedMs)).to.deep.equal([45, 45, 45, 360, 360, undefined])
  })

  it('asks for more at once where that takes no longer, and for no fewer than are worth a turn', async () => {
    stored = Array.from({ length: 20_000 }, (_, i) => START_MS - 10 * DAY_MS + i)
    stored.push(START_MS)
    await pass(retain(), 30 * MINUTE_MS)
    expect(turns.map(({ maxRows }) => maxRows)).to.deep.equal([1000, 2000, 4000, 8000, 16_000])
    turns = []
    turnMs = () => 1000
    stored.push(...Array.from({ length: 20_000 }, (_, i) => START_MS - 10 * DAY_MS + i))
    await pass(opened[0], 30 * MINUTE_MS)
    expect(turns.map(({ maxRows }) => maxRows).slice(0, 3)).to.deep.equal([16_000, 1000, 1000])
  })

  it('says once why it cannot remove rows, and tries again', async () => {
    fill(100)
    failure = new Error('no way')
    const retention = retain()
    await pass(retention, 60 * MINUTE_MS)
    expect(log).to.have.length(1)
    expect(log[0]).to.match(/too old stay: no way/)
    expect(retention.state().retention).to.match(/no way/)
    failure = null
    await pass(retention, 30 * MINUTE_MS)
    expect(retention.state()).not.to.have.property('retention')
    expect(stored).to.have.length(25)
  })

  it('lets batches in between its turns, and removes what is due all the same', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-retention-'))
    const real = await open({ file: join(folder, 'sluice.sqlite') })
    try {
      const old = Array.from({ length: 20_000 }, (_, i) => i)
      await real.write([batchOf(old, { time: BigInt64Array.from(old, i => ns(START_MS - 10 * DAY_MS + i)) })])
      /** @type {string[]} */
      const order = []
      let isOver = false
      const retention = new Retention({
        sink: {
          span: () => /** @type {any} */ (real.span)(),
          async removeBefore (before, most) {
            const removed = await real.removeBefore?.(before, most) ?? 0
            order.push('turn')
            return removed
          }
        },
        keepDays: 1,
        meter,
        clock: { start () {}, now: () => ns(START_MS), monotonicMs: () => elapsedMs++, sleep: () => nextTurn() }
      })
      opened.push(retention)
      await retention.check()
      elapsedMs += 11 * MINUTE_MS
      await real.write([batchOf([0], { time: BigInt64Array.of(ns(START_MS)) })])
      const removing = retention.check().then(() => { isOver = true })
      for (let i = 1; !isOver; i++) {
        await real.write([batchOf([i], { time: BigInt64Array.of(ns(START_MS) + BigInt(i)) })])
        order.push('batch')
        await nextTurn()
      }
      await removing
      const longestWait = order.join(' ').split('batch').map(between => between.split('turn').length - 1)
      expect(Math.max(...longestWait)).to.be.most(2)
      expect(order.filter(each => each === 'turn').length).to.be.least(5)
      expect((await real.span?.())?.oldest).to.equal(ns(START_MS))
    } finally {
      await real.close()
      await rm(folder, { recursive: true })
    }
  })

  it('ends with the turn that is running', async () => {
    stored = Array.from({ length: 20_000 }, (_, i) => START_MS - 10 * DAY_MS + i)
    stored.push(START_MS)
    const retention = retain()
    elapsedMs += 11 * MINUTE_MS
    await retention.check()
    elapsedMs += 11 * MINUTE_MS
    const running = retention.check()
    retention.close()
    await running
    expect(turns.length).to.be.most(1)
    await retention.check()
    expect(turns.length).to.be.most(1)
  })
})
