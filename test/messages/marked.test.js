import { expect } from 'chai'
import { CLOCK_TAG, UNSYNCHRONISED } from '../../gateway/clock/restamper.js'
import { WallClock } from '../../gateway/clock/wall-clock.js'
import { Marker } from '../../gateway/messages/marked.js'
import { toBatches } from '../../gateway/messages/payload.js'

const SECOND = 1_000_000_000n
const RELEASED = 1_800_000_000n * SECOND
const MARK = { [CLOCK_TAG]: UNSYNCHRONISED }

describe('A message without a time', () => {
  let sourceNs = RELEASED
  let wallNs = RELEASED
  /** What the kernel says, when it does. @type {PromiseWithResolvers<boolean|undefined|null>} */
  let kernel
  /** @type {WallClock} */
  let clock

  beforeEach(() => {
    sourceNs = wallNs = RELEASED
    kernel = Promise.withResolvers()
    clock = new WallClock({ sourceNs: () => sourceNs, wallNs: () => wallNs, releasedNs: RELEASED, isSynchronised: () => kernel.promise })
  })

  /** @param {object} [options]  of the marker */
  const markerOf = options => new Marker(clock, () => sourceNs, options)

  /** @param {Marker} marker @param {{topic: string, payload: unknown}} [message] */
  function send (marker, message = { topic: 'press', payload: 7 }) {
    const sent = { isThrough: false, tags: /** @type {object[]} */ ([]), times: /** @type {bigint[]} */ ([]) }
    return Object.assign(sent, {
      done: Promise.resolve(marker.read(now => toBatches(message, { now }))).then(({ batches }) => {
        Object.assign(sent, { isThrough: true, tags: batches.map(({ tags }) => tags), times: batches.flatMap(({ time }) => [...time]) })
      })
    })
  }

  const settled = () => new Promise(resolve => setImmediate(resolve))

  it('waits until it is known whether the clock is set, and is not marked where it is', async () => {
    clock.check()
    const sent = send(markerOf())
    await settled()
    expect(sent.isThrough).to.equal(false)
    kernel.resolve(true)
    await sent.done
    expect(sent.tags).to.deep.equal([{}])
  })

  it('is marked where it is not', async () => {
    clock.check()
    const marker = markerOf()
    const sent = send(marker)
    kernel.resolve(false)
    await sent.done
    const later = send(marker)
    await later.done
    expect([sent.tags, later.tags]).to.deep.equal([[MARK], [MARK]])
  })

  it('is marked at once where the clock shows 1970', async () => {
    wallNs = 12n * SECOND
    clock.check()
    const sent = send(markerOf())
    await sent.done
    expect(sent.tags).to.deep.equal([MARK])
  })

  it('waits no longer than 5 s for a kernel that does not answer, and is not marked for that', async () => {
    clock.check()
    const marker = markerOf()
    const sent = send(marker)
    kernel.resolve(null)
    await settled()
    expect(sent.isThrough).to.equal(false)
    sourceNs += 5n * SECOND
    await clock.check()
    await sent.done
    const later = send(marker)
    await later.done
    expect([sent.tags, later.tags]).to.deep.equal([[{}], [{}]])
  })

  it('goes on when too much waits, or when what it goes to closes', async () => {
    clock.check()
    const marker = markerOf({ maxBytes: 2000 })
    const first = send(marker)
    const second = send(marker, { topic: 'press', payload: 'x'.repeat(2000) })
    await Promise.all([first.done, second.done])
    const third = send(marker)
    await settled()
    expect(third.isThrough).to.equal(false)
    marker.release()
    await third.done
    expect([first.tags, second.tags, third.tags]).to.deep.equal([[{}], [{}], [{}]])
  })

  it('has the time at which it came, also when the clock is put right meanwhile', async () => {
    clock.check()
    const sent = send(markerOf())
    sourceNs += SECOND
    wallNs += 3601n * SECOND
    kernel.resolve(true)
    await sent.done
    expect(sent.times).to.deep.equal([RELEASED + 3600n * SECOND])
    expect(sent.tags).to.deep.equal([{}])
  })

  it('that has one waits for nothing', async () => {
    clock.check()
    const sent = send(markerOf(), { topic: 'press', payload: { time: new Date('2027-01-01'), value: 7 } })
    await sent.done
    expect(sent.tags).to.deep.equal([{}])
  })
})
