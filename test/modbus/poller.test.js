import { expect } from 'chai'
import { openModbusRead } from '../../gateway/modbus/source.js'
import { recorder } from '../sources/manual-clock.js'
import { exception, FakeDevice, lacking, silent, timeout } from './fake-device.js'
import { VirtualClock } from './virtual-clock.js'

/**
 * A source on a fake device; `run` lets it go on for some time, then ends it.
 * @param {{isPaused?: boolean, [option: string]: unknown}} options
 */
function open ({ isPaused = false, ...options }) {
  const clock = new VirtualClock()
  const device = new FakeDevice()
  const recording = recorder(/** @type {any} */ (clock))
  const source = openModbusRead({ name: 'plant', batchMs: 0, ...options }, {
    ...recording,
    emit: batch => recording.emit(batch),
    isPaused: () => isPaused,
    device,
    deviceName: 'meter',
    order: 'ABCD'
  })
  const counters = /** @type {import('../../gateway/modbus/poller.js').Counters} */ (source.counters)
  return {
    clock,
    device,
    recording,
    source,
    counters,
    resume () { isPaused = false },
    /** @param {number} ms */
    async run (ms) {
      await clock.advance(ms)
      await source.close()
    },
    timesMs: () => recording.rows().map(({ time }) => clock.msSinceStart(/** @type {bigint} */ (time))),
    /** Rows without their time. */
    values: () => recording.rows().map(({ time: _, ...values }) => values)
  }
}

const FLOW = { name: 'flow', address: '0', type: 'uint16' }
const LEVEL = { name: 'level', address: '1', type: 'uint16' }
const FAR = { name: 'far', address: '1000', type: 'uint16' }
const FAST = [{ name: 'default', periodMs: 100 }]

describe('Modbus read', () => {
  it('sends a row for each poll, with a column for each tag and the time at which the poll began', async () => {
    const { device, recording, run, timesMs } = open({
      tags: [{ ...FLOW, scale: 0.5, unit: 'l/s' }, { name: 'pump', area: 'coils', address: '7', type: 'bool' }]
    })
    device.memory['holding-registers'][0] = 21
    device.memory.coils[7] = 1
    await run(2500)
    const [batch] = recording.batches
    expect(batch).to.deep.include({
      source: 'plant',
      tags: { device: 'meter' },
      fields: [{ name: 'flow', type: 'float64', unit: 'l/s' }, { name: 'pump', type: 'bool' }]
    })
    expect(batch.toObjects()).to.deep.equal([{ time: batch.time[0], flow: 10.5, pump: true }])
    expect(timesMs()).to.deep.equal([0, 1000, 2000])
  })

  it('polls each group with its own period, without drift, however long answers take', async () => {
    const { clock, counters, device, recording, run } = open({
      tags: [{ ...FLOW, group: 'fast' }, { ...LEVEL, group: 'slow' }],
      groups: [{ name: 'fast', periodMs: 10 }, { name: 'slow', periodMs: 1000 }]
    })
    device.before = () => clock.sleep(7.3)
    await run(9_999)
    for (const [name, periodMs, polls] of /** @type {const} */ ([['plant.fast', 10, 1000], ['plant.slow', 1000, 10]])) {
      const times = recording.batches.filter(({ source }) => source === name).flatMap(({ time }) => [...time])
      expect(times).to.have.length(polls)
      for (const [k, time] of times.entries()) expect(clock.msSinceStart(time) - k * periodMs).to.be.within(0, 1)
    }
    expect(counters).to.include({ missed: 0, late: 0 })
  })

  it('skips and counts polls that come due while one still runs', async () => {
    const { clock, device, counters, run, timesMs } = open({ tags: [FLOW], groups: FAST })
    device.before = () => clock.sleep(250)
    await run(1000)
    expect(timesMs()).to.deep.equal([0, 100, 400, 700])
    expect(counters).to.include({ polls: 4, missed: 6, late: 0 })
  })

  it('is late after the process has stood still, then on time again', async () => {
    const { clock, counters, run, timesMs } = open({ tags: [FLOW], groups: FAST })
    await clock.advance(150)
    clock.stall(310)
    await run(240)
    expect(timesMs()).to.deep.equal([0, 100, 460, 500, 600, 700])
    expect(counters).to.include({ missed: 2, late: 1 })
  })

  it('does not poll while it is paused', async () => {
    const { clock, device, counters, resume, run } = open({ tags: [FLOW], groups: FAST, isPaused: true })
    await clock.advance(950)
    expect(device.asked).to.deep.equal([])
    resume()
    await run(100)
    expect(counters).to.include({ polls: 1, missed: 10 })
  })

  it('sends rows as one batch after a time, and the rest when it ends', async () => {
    const { recording, run } = open({ tags: [FLOW], groups: FAST, batchMs: 250 })
    await run(1050)
    expect(recording.batches.map(({ rows }) => rows)).to.deep.equal([3, 3, 3, 2])
  })

  it('sends a row at once when its batch cannot grow', async () => {
    const { clock, recording, source } = open({ tags: [FLOW], batchMs: 250 })
    await clock.advance(1)
    expect(recording.batches).to.have.length(1)
    await source.close()
  })

  it('sends the fewest requests', async () => {
    const tags = Array.from({ length: 300 }, (_, i) => ({ name: `t${i}`, address: String(2 * i), type: 'float32' }))
    const { device, run } = open({ tags })
    await run(10)
    expect(device.asked.map(({ address, count }) => [address, count])).to.deep.equal([
      [0, 124],
      [124, 124],
      [248, 124],
      [372, 124],
      [496, 104]
    ])
  })

  describe('when the device refuses', () => {
    it('reads around a missing address, at once and from then on', async () => {
      const { device, recording, counters, run, values } = open({ tags: [FLOW, LEVEL, { ...FAR, address: '10' }], groups: FAST })
      device.fails = lacking([5])
      await run(150)
      expect(values()).to.deep.equal([{ flow: 0, level: 0, far: 0 }, { flow: 0, level: 0, far: 0 }])
      expect(device.asked.map(({ address, count }) => [address, count])).to.deep.equal([[0, 11], [0, 2], [10, 1], [0, 2], [10, 1]])
      expect(counters).to.include({ splits: 1, errors: 0 })
      expect(recording.warnings).to.deep.equal([])
    })

    it('reads all values except the missing one', async () => {
      const { counters, device, recording, run, values, source } = open({ tags: [FLOW, LEVEL, { ...FAR, address: '2' }], groups: FAST })
      device.fails = lacking([1])
      await run(150)
      expect(values()[1]).to.deep.equal({ flow: 0, far: 0, quality: 'level: exception 2' })
      expect(recording.warnings).to.have.length(1)
      expect(recording.warnings[0]).to.match(/^plant, holding registers 1: .*exception 2/)
      expect(source.trouble?.()).to.equal('1 of 3 values missing: exception 2')
      expect(counters.errors).to.equal(2)
      expect(source.gauge?.()).to.include({ state: 'good', valueless: '' })
    })

    it('says why not one value can be read, although the device answers', async () => {
      const { device, run, source } = open({ tags: [FLOW, LEVEL], groups: FAST })
      device.fails = () => exception(2)
      await run(150)
      expect(source.gauge?.()).to.include({ state: 'good', valueless: 'exception 2' })
    })

    it('returns to whole requests when the halves are refused too', async () => {
      const { device, counters, run, values } = open({ tags: [FLOW, LEVEL], groups: FAST })
      device.fails = () => device.asked.length < 12 ? exception(2) : undefined
      await run(1000)
      // 3 requests where it tries the parts too, in polls 1, 2 and 4
      expect(device.asked.slice(0, 12).map(({ count }) => count)).to.deep.equal([2, 1, 1, 2, 1, 1, 2, 2, 1, 1, 2, 2])
      expect(values().map(({ quality }) => quality)).to.deep.equal([...Array(5).fill('exception 2'), ...Array(6).fill(undefined)])
      expect(counters.splits).to.equal(0)
    })

    it('reads around an address at which the device itself fails, as around one that it lacks', async () => {
      const { device, counters, run, values } = open({ tags: [FLOW, LEVEL, FAR], groups: FAST })
      device.fails = request => lacking([1])(request) && exception(4)
      await run(150)
      expect(values()[1]).to.deep.equal({ flow: 0, far: 0, quality: 'level: exception 4' })
      expect(counters.splits).to.equal(1)
    })

    it('does not split for other failures', async () => {
      const { device, run, values } = open({ tags: [FLOW, LEVEL] })
      device.fails = () => exception(1)
      await run(10)
      expect(device.asked).to.have.length(1)
      expect(values()).to.deep.equal([{ quality: 'exception 1' }])
    })
  })

  describe('when the device is silent', () => {
    it('sends a row of missing values when it was asked, and none when it was not', async () => {
      const { clock, device, counters, run, values } = open({ tags: [FLOW, FAR], groups: FAST })
      await clock.advance(50)
      let asked = 0
      device.fails = () => asked++ % 20 === 0 ? timeout() : silent()
      await clock.advance(1000)
      device.fails = () => undefined
      await run(100)
      expect(values()).to.deep.equal([{ flow: 0, far: 0 }, { quality: 'timeout' }, { flow: 0, far: 0 }])
      expect(counters).to.include({ skipped: 9, errors: 1 })
    })

    it('sends one row for a group that was not asked', async () => {
      const { clock, device, counters, run, values } = open({ tags: [FLOW], groups: FAST })
      await clock.advance(50)
      device.fails = silent
      await run(1000)
      expect(values()).to.deep.equal([{ flow: 0 }, { quality: 'silent' }])
      expect(counters).to.include({ skipped: 9, errors: 0 })
    })

    it('sends no row before the first answer', async () => {
      const { device, run, values } = open({ tags: [FLOW], groups: FAST })
      device.fails = silent
      await run(1000)
      expect(values()).to.deep.equal([])
    })

    it('reports since when, and when it tries again', async () => {
      const { clock, device, source } = open({ tags: [FLOW] })
      device.fails = silent
      device.health.state = 'silent'
      await clock.advance(500)
      expect(source.trouble?.()).to.equal('silent, no answer so far, next try in 4 s')
      device.health.lastGoodMs = Number(clock.startNs / 1_000_000n) - 31_500
      expect(source.trouble?.()).to.equal('silent, last answer 32 s ago, next try in 4 s')
      await source.close()
    })
  })

  it('leaves out meaningless values', async () => {
    const { device, counters, run, values } = open({ tags: [FLOW, { name: 'ph', address: '2', type: 'float32' }] })
    device.memory['holding-registers'].set([0x7FC0, 0], 2)
    await run(10)
    expect(values()).to.deep.equal([{ flow: 0, quality: 'ph: not a number' }])
    expect(counters).to.include({ badValues: 1, errors: 0 })
  })

  describe('with deadbands', () => {
    const tags = [{ ...FLOW, deadband: 2, heartbeatMs: 0 }, { ...LEVEL, deadband: 0, heartbeatMs: 0 }]

    /** @param {number[]} flows  of poll after poll @param {object[]} [table] */
    async function rowsOf (flows, table = tags) {
      const { clock, device, source, counters, values } = open({ tags: table, groups: FAST })
      for (const flow of flows) {
        device.memory['holding-registers'][0] = flow
        await clock.advance(100)
      }
      await source.close()
      return { flows: values().map(({ flow }) => flow), counters }
    }

    it('sends a row once a value has changed enough since the last row sent', async () => {
      const { flows, counters } = await rowsOf([10, 11, 12, 13, 12, 11, 10, 10])
      expect(flows).to.deep.equal([10, 13, 10])
      expect(counters.unchanged).to.be.within(5, 6)
    })

    it('always sends a row after the heartbeat', async () => {
      const { flows } = await rowsOf(Array(10).fill(7), [{ ...tags[0], heartbeatMs: 300 }, tags[1]])
      expect(flows).to.have.length.within(4, 5)
    })

    it('sends the heartbeat with the nearest poll, however uneven the polls', async () => {
      const { clock, run, timesMs } = open({ tags: [{ ...FLOW, deadband: 0, heartbeatMs: 300 }], groups: FAST })
      await clock.advance(299)
      clock.stall(5)
      await run(700)
      expect(timesMs()).to.deep.equal([0, 304, 600, 900])
    })

    it('sends all rows of a group with a tag that has no deadband', async () => {
      const { flows } = await rowsOf([1, 1, 1, 1], [tags[0], LEVEL])
      expect(flows).to.have.length.within(4, 5)
    })

    it('sends a row when values appear or disappear', async () => {
      const { clock, device, source, values } = open({ tags, groups: FAST })
      await clock.advance(250)
      device.fails = () => exception(4)
      await clock.advance(300)
      device.fails = () => undefined
      await clock.advance(300)
      await source.close()
      expect(values()).to.deep.equal([{ flow: 0, level: 0 }, { quality: 'exception 4' }, { flow: 0, level: 0 }])
    })
  })

  it('reports the health of the device', async () => {
    const { source, run } = open({ tags: [FLOW, FAR] })
    await run(1500)
    expect(source.trouble?.()).to.equal(undefined)
    expect(source.gauge?.()).to.include({
      state: 'good',
      latencyMs: 1,
      timeouts: 0,
      polls: 2,
      requestsPerPoll: 2,
      latenessP99Ms: 0,
      lastGoodSecondsAgo: null
    })
  })

  it('reports no trouble while a reconnected device has not been asked yet', async () => {
    const { clock, device, source } = open({ tags: [FLOW], groups: [{ name: 'default', periodMs: 3_600_000 }] })
    device.health.state = 'connecting'
    expect(source.trouble?.()).to.equal('connecting, no answer so far')
    await clock.advance(1)
    expect(source.trouble?.()).to.equal(undefined)
    device.health.state = 'disconnected'
    expect(source.trouble?.()).to.match(/^disconnected/)
    await source.close()
  })

  it('ends with the error of emitting a batch', async () => {
    const { clock, recording, source } = open({ tags: [FLOW] })
    recording.emit = () => { throw new Error('no room') }
    await clock.advance(10)
    expect(await recording.ended).to.be.an('error').with.property('message', 'no room')
    await source.close()
  })

  it('refuses an invalid table', () => {
    const opening = (/** @type {Record<string, unknown>} */ options) => () => open(options)
    expect(opening({ tags: [] })).to.throw('There are no tags.')
    expect(opening({ tags: [{ ...FLOW, group: 'fast' }] })).to.throw('Tags, row 1: Group must be one of default; "fast" is not')
    expect(opening({ tags: [FLOW], groups: [{ name: 'a', periodMs: 5 }] })).to.throw('between 10 and 86,400,000 ms')
    const many = Array.from({ length: 1000 }, (_, i) => ({ name: `t${i}`, address: String(i) }))
    expect(opening({ tags: many })).to.throw('The group "default" has 1000 tags.')
  })
})
