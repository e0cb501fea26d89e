import { expect } from 'chai'
import { GatheredAppends } from '../../broker/out/gathered-appends.js'
import { Batch } from '../../gateway/batch/batch.js'
import { openSimulator } from '../../gateway/simulators/simulator.js'
import { intervalOptions } from '../../nodes/staging/gathering.js'
import { ManualClock, recorder } from '../sources/manual-clock.js'

const SECOND_NS = 1_000_000_000n
const LONG_MS = 3_600_000

describe('Gathering of whole intervals', () => {
  /** Of each batch: the first second, how many rows, the last second. @type {[number, number, number][]} */
  let appended
  beforeEach(() => { appended = [] })

  /** @param {Partial<import('../../broker/out/gathered-appends.js').Options>} [options] */
  const gather = options => new GatheredAppends({
    async append ({ time, rows }) { appended.push([Number(time[0] / SECOND_NS), rows, Number(time[rows - 1] / SECOND_NS)]) },
    maxRows: Infinity,
    maxBytes: 2 ** 24,
    ...intervalOptions(1000),
    maxAgeMs: LONG_MS,
    ...options
  })

  /** Rows of these times. @param {number[]} ms @param {Record<string, string>} [tags] */
  const rowsAt = (ms, tags) => new Batch({
    source: 'press',
    time: BigInt64Array.from(ms, each => BigInt(each) * 1_000_000n),
    fields: [{ name: 'value', type: 'float64' }],
    columns: [Float64Array.from(ms)],
    tags
  })

  for (const tickMs of [10, 300, 1000]) {
    it(`makes one batch of each second, of 1000 rows, of a live machine tool with ticks of ${tickMs} ms`, async () => {
      const clock = new ManualClock(1_518_465_409n * SECOND_NS + 137_000_000n)
      const gathering = gather()
      const whole = /** @type {Promise<unknown>[]} */ ([])
      const emit = (/** @type {Batch} */ batch) => { whole.push(gathering.message(() => gathering.append(batch))) }
      const simulator = openSimulator({ tickMs }, { ...recorder(clock), emit })
      clock.advance(12_000)
      await simulator.close()
      await new Promise(setImmediate)
      const complete = appended.slice(1)
      expect(complete).to.have.length.within(10, 11)
      expect(complete).to.deep.equal(complete.map((_, i) => [1_518_465_410 + i, 1000, 1_518_465_410 + i]))
      gathering.flush()
      await Promise.all(whole)
      expect(appended.reduce((sum, [, rows]) => sum + rows, 0)).to.equal(simulator.counters.samples)
    })
  }

  it('is done with a message once all its intervals are stored', async () => {
    const gathering = gather()
    let isDone = false
    const done = gathering.append(rowsAt([900, 1000, 1900, 2000])).then(() => { isDone = true })
    await new Promise(setImmediate)
    expect(appended).to.deep.equal([[0, 1, 0], [1, 2, 1]])
    expect(isDone).to.equal(false)
    await Promise.race([gathering.append(rowsAt([3000])), done])
    expect(appended.at(-1)).to.deep.equal([2, 1, 2])
    expect(isDone).to.equal(true)
    gathering.flush()
  })

  it('waits for the end of an interval no longer than its age', async () => {
    await gather({ maxAgeMs: 20 }).append(rowsAt([100, 200]))
    expect(appended).to.deep.equal([[0, 2, 0]])
    expect(intervalOptions(1000)).to.deep.equal({ intervalNs: SECOND_NS, maxAgeMs: 2000 })
  })

  it('holds each set of tags by itself: machines of one source that take turns cut no second', async () => {
    const gathering = gather()
    for (const ms of [[500, 700], [900, 1100], [1300, 1500]]) {
      for (const vehicle of ['1', '2']) gathering.append(rowsAt(ms, { vehicle }))
    }
    await new Promise(setImmediate)
    expect(appended).to.deep.equal([[0, 3, 0], [0, 3, 0]])
    gathering.flush()
    expect(appended.slice(2)).to.deep.equal([[1, 3, 1], [1, 3, 1]])
  })

  it('stores nothing again of an interval that may be stored in part', async () => {
    let tries = 0
    const gathering = gather({ isAllOrNone: true, append: async () => { tries++; throw new Error('no') } })
    const results = Promise.allSettled([rowsAt([1]), rowsAt([2])].map(batch => gathering.append(batch)))
    gathering.flush()
    expect((await results).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(tries).to.equal(1)
  })
})
