import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { CLOCK_TAG, Restamper, UNSYNCHRONISED } from '../../gateway/clock/restamper.js'
import { TimeLine } from '../../gateway/clock/time-line.js'
import { WallClock } from '../../gateway/clock/wall-clock.js'

const SECOND = 1_000_000_000n
const RELEASED = 1_800_000_000n * SECOND
const NEVER_SET = 12n * SECOND

describe('the system clock', () => {
  it('is not read when it is imported, but from its first use on', async () => {
    const { bigint } = process.hrtime
    let readings = 0
    process.hrtime.bigint = () => {
      readings++
      return bigint()
    }
    try {
      const { nowNs } = await import(`../../gateway/clock/system-clock.js?${'fresh'}`)
      expect(readings).to.equal(0)
      const first = nowNs()
      expect(Number(first / 1_000_000n)).to.be.closeTo(Date.now(), 60_000)
      expect(nowNs() >= first).to.equal(true)
      expect(readings).to.equal(2)
    } finally {
      process.hrtime.bigint = bigint
    }
  })
})

describe('the wall clock', () => {
  it('that is set from the start lets samples pass untouched', async () => {
    const { clock, source, stored } = await begin({ wall: RELEASED + 5n * SECOND })
    source.give(0, 1)
    expect(clock.state).to.equal('set')
    expect(stored).to.deep.equal([{ seconds: [5, 6], tags: {} }])
  })

  it('that shows 1970 holds samples, and gives them the time they had once it is set', async () => {
    const { time, clock, source, stored } = await begin({ wall: NEVER_SET })
    source.give(0, 1)
    await time.pass(30n)
    source.give(30, 31)
    expect(stored).to.deep.equal([])
    time.wall = RELEASED + 1000n * SECOND
    await time.pass(1n)
    expect(clock.state).to.equal('set')
    expect(stored.map(({ seconds }) => seconds)).to.deep.equal([[970, 971], [1000, 1001]])
    expect(stored.map(({ tags }) => tags)).to.deep.equal([{}, {}])
  })

  it('that the kernel calls unsynchronised holds samples until it is', async () => {
    const { time, clock, source, stored } = await begin({ wall: RELEASED + 5n * SECOND, synchronised: false })
    source.give(0)
    expect([clock.state, stored.length]).to.deep.equal(['waiting', 0])
    time.synchronised = true
    await time.pass(1n)
    expect([clock.state, stored.length]).to.deep.equal(['set', 1])
    expect(stored[0].tags).to.deep.equal({})
  })

  it('of which nobody knows whether it is synchronised is trusted', async () => {
    const { clock } = await begin({ wall: RELEASED + 5n * SECOND, synchronised: undefined })
    expect(clock.state).to.equal('set')
  })

  it('that is not set within 120 s sends samples on, marked and never in 1970', async () => {
    const { time, clock, source, stored } = await begin({ wall: NEVER_SET })
    source.give(0)
    await time.pass(119n)
    expect(stored).to.deep.equal([])
    await time.pass(1n)
    expect(clock.state).to.equal('unsynchronised')
    source.give(121)
    expect(stored).to.deep.equal([
      { seconds: [0], tags: { [CLOCK_TAG]: UNSYNCHRONISED } },
      { seconds: [121], tags: { [CLOCK_TAG]: UNSYNCHRONISED } }
    ])
  })

  it('that is set later than that marks no more, and puts nothing before earlier samples', async () => {
    const { time, source, stored } = await begin({ wall: NEVER_SET })
    await time.pass(120n)
    source.give(120)
    time.wall = RELEASED + 5000n * SECOND
    await time.pass(1n)
    source.give(121, 122)
    expect(stored.map(({ seconds }) => seconds)).to.deep.equal([[120], [5001, 5002]])
    expect(stored.map(({ tags }) => CLOCK_TAG in tags)).to.deep.equal([true, false])
  })

  it('that is not set in time asks the kernel every ten seconds until it is', async () => {
    const { time, clock, asked } = await begin({ wall: RELEASED + 5n * SECOND, synchronised: false })
    await time.pass(120n)
    const before = asked()
    await time.pass(100n)
    expect(asked() - before).to.be.within(9, 11)
    time.synchronised = true
    await time.pass(10n)
    expect(clock.state).to.equal('set')
  })

  it('put forward moves only later samples', async () => {
    const { time, source, stored } = await begin({ wall: RELEASED })
    await time.pass(10n)
    time.wall += 3600n * SECOND
    await time.pass(1n)
    source.give(9, 10, 11, 12) // of which two came before
    expect(stored[0].seconds).to.deep.equal([9, 10, 3611, 3612])
  })

  it('put back reorders nothing: time runs slower, marked, until both agree', async () => {
    const { time, source, stored } = await begin({ wall: RELEASED })
    await time.pass(100n)
    time.wall -= 10n * SECOND
    for (let second = 101; second <= 230; second++) {
      await time.pass(1n)
      source.give(second)
    }
    const times = stored.flatMap(({ seconds }) => seconds)
    for (let i = 1; i < times.length; i++) expect(times[i], `sample ${i}`).to.be.above(times[i - 1])
    expect(times.at(-1)).to.equal(220)
    expect(CLOCK_TAG in stored[0].tags).to.equal(true)
    expect(CLOCK_TAG in /** @type {any} */ (stored.at(-1)).tags).to.equal(false)
  })

  it('that is a few milliseconds off changes nothing', async () => {
    const { time, source, stored } = await begin({ wall: RELEASED })
    time.wall += 49_000_000n
    await time.pass(1n)
    source.give(1)
    expect(stored[0].seconds).to.deep.equal([1])
  })
})

describe('samples that wait for the clock', () => {
  it('are sent on, marked, when they are too many to keep', async () => {
    const { source, stored } = await begin({ wall: NEVER_SET, maxBytes: 2000 })
    for (let second = 0; second < 4; second++) source.give(second)
    expect(stored.length).to.equal(4)
    expect(stored.every(({ tags }) => tags[CLOCK_TAG] === UNSYNCHRONISED)).to.equal(true)
  })

  it('are sent on, marked, when their source is closed', async () => {
    const { source, stored } = await begin({ wall: NEVER_SET })
    source.give(0)
    source.restamper.close()
    expect(stored.map(({ seconds }) => seconds)).to.deep.equal([[0]])
    expect(source.restamper.heldRows).to.equal(0)
  })
})

describe('a time line', () => {
  it('increases through any steps', () => {
    const line = new TimeLine()
    let last = line.at(0n)
    for (let second = 1n; second < 500n; second++) {
      if (second % 7n === 0n) line.change(second * SECOND, ((second * 7919n) % 61n - 30n) * SECOND)
      for (let tenth = 0n; tenth < 10n; tenth++) {
        const now = line.at(second * SECOND + tenth * SECOND / 10n)
        expect(now > last).to.equal(true)
        last = now
      }
    }
  })
})

/**
 * A machine whose source clock begins at the release, and whose wall clock shows what a test says. Times are in seconds since the release.
 * @param {{wall: bigint, synchronised?: boolean, maxBytes?: number}} start
 */
async function begin ({ wall, synchronised = undefined, maxBytes }) {
  const time = {
    source: RELEASED,
    wall,
    synchronised,
    async pass (/** @type {bigint} */ seconds) {
      for (let i = 0n; i < seconds; i++) {
        time.source += SECOND
        time.wall += SECOND
        await clock.check()
      }
    }
  }
  let asked = 0
  const clock = new WallClock({
    sourceNs: () => time.source,
    wallNs: () => time.wall,
    releasedNs: RELEASED,
    isSynchronised: async () => {
      asked++
      return time.synchronised
    }
  })
  /** @type {{seconds: number[], tags: Record<string, unknown>}[]} */
  const stored = []
  const restamper = new Restamper(clock, batch => {
    stored.push({ seconds: Array.from(batch.time, ns => Number(ns - RELEASED) / 1e9), tags: withoutBus(batch.tags) })
  }, { maxBytes })
  const source = {
    restamper,
    give: (/** @type {number[]} */ ...seconds) => restamper.take(new Batch({
      source: 'x',
      time: BigInt64Array.from(seconds, at => RELEASED + BigInt(at) * SECOND),
      fields: [{ name: 'value', type: 'float64' }],
      columns: [Float64Array.from(seconds)],
      tags: { bus: 'a' }
    }))
  }
  await clock.check()
  return { time, clock, source, stored, asked: () => asked }
}

/** @param {Record<string, unknown>} tags  which keep those of the source */
function withoutBus ({ bus, ...others }) {
  expect(bus).to.equal('a')
  return others
}
