import { expect } from 'chai'
import { systemClock } from '../../gateway/clock/system-clock.js'
import { openSimulator, schema } from '../../gateway/simulators/simulator.js'
import { ManualClock, recorder } from '../sources/manual-clock.js'

/**
 * The first samples of a simulator that need not wait.
 * @param {object} options @param {number} maxSamples
 */
async function samples (options, maxSamples) {
  const recording = recorder()
  openSimulator({ paced: false, maxSamples, ...options }, recording)
  expect(await recording.ended).to.equal(undefined)
  return recording
}

/** @param {object} channel @param {number} count @returns {Promise<any[]>} the values of one channel sampled 8 times a second */
async function valuesOf (channel, count) {
  const recording = await samples({ preset: 'channels', sampleRateHz: 8, channels: [{ name: 'x', ...channel }] }, count)
  return recording.rows().map(({ x }) => x)
}

/** @param {number} value */
const rounded = value => Math.round(value * 1e6) / 1e6 + 0

describe('simulator', () => {
  it('stamps sample i exactly t0 + i·dt and sends all that is due at each tick', async () => {
    const recording = recorder(new ManualClock(1_700_000_000_123_456_789n))
    const source = openSimulator({ sampleRateHz: 3000, tickMs: 50 }, recording)
    recording.clock.advance(2000)
    await source.close()
    const times = recording.rows().map(({ time }) => time)
    expect(recording.batches).to.have.length(40)
    expect(times).to.have.length(6001)
    for (const [i, time] of times.entries()) expect(time).to.equal(1_700_000_000_123_456_789n + BigInt(i) * 333_333n)
    expect(source.counters).to.deep.equal({ samples: 6001, late: 0, missed: 0 })
  })

  it('makes the machine tool of the study: five 12-bit channels, the angle a sawtooth of 3 cycles a second', async () => {
    const { batches } = await samples({ name: 'press', batchRows: 4000 }, 10000)
    expect(batches.map(({ rows }) => rows)).to.deep.equal([4000, 4000, 2000])
    expect(batches[0].source).to.equal('press')
    expect(batches[0].fields.map(({ name, type }) => [name, type])).to.deep.equal(
      [['angle', 'uint16'], ['sensor1', 'uint16'], ['sensor2', 'uint16'], ['sensor3', 'uint16'], ['sensor4', 'uint16']])
    const angles = batches.flatMap(({ columns: [angle] }) => Array.from(/** @type {Uint16Array} */ (angle)))
    expect(Math.max(...angles)).to.be.within(4050, 4095)
    expect(Math.min(...angles)).to.be.within(0, 40)
    expect(angles.filter((angle, i) => i > 0 && angle < angles[i - 1] - 2048)).to.have.length(29)
  })

  it('repeats itself with the same seed, however the samples are cut into batches, and not with another', async () => {
    const [one, same, other] = await Promise.all([{ seed: 5, batchRows: 1000 }, { seed: 5, batchRows: 7 }, { seed: 6 }]
      .map(async options => (await samples(options, 500)).rows().map(({ sensor1, sensor2 }) => `${sensor1} ${sensor2}`)))
    expect(same).to.deep.equal(one)
    expect(other).not.to.deep.equal(one)
  })

  it('draws the shapes', async () => {
    const middle = { offset: 10, amplitude: 4, frequencyHz: 1 }
    expect((await valuesOf({ shape: 'sine', ...middle }, 4)).map(rounded)).to.deep.equal([10, 12.828427, 14, 12.828427])
    expect(await valuesOf({ shape: 'sawtooth', ...middle }, 9)).to.deep.equal([6, 7, 8, 9, 10, 11, 12, 13, 6])
    expect(await valuesOf({ shape: 'square', ...middle }, 9)).to.deep.equal([14, 14, 14, 14, 6, 6, 6, 6, 14])
    const noise = await valuesOf({ shape: 'noise', ...middle }, 20000)
    expect(Math.min(...noise)).to.be.within(6, 6.01)
    expect(Math.max(...noise)).to.be.within(13.99, 14)
    const walk = await valuesOf({ shape: 'random-walk', ...middle }, 20000)
    expect(walk.every(value => value >= 6 && value <= 14)).to.equal(true)
    expect(Math.max(...walk) - Math.min(...walk)).to.be.above(4)
    expect(walk.every((value, i) => i === 0 || Math.abs(value - walk[i - 1]) <= 0.08)).to.equal(true)
  })

  it('keeps whole numbers within their type, rounded', async () => {
    expect(await valuesOf({ shape: 'square', amplitude: 1e6, type: 'uint16' }, 5)).to.deep.equal([65535, 65535, 65535, 65535, 0])
    expect(await valuesOf({ shape: 'square', amplitude: 1e6, type: 'int16' }, 5)).to.deep.equal([32767, 32767, 32767, 32767, -32768])
    expect(await valuesOf({ shape: 'sawtooth', amplitude: 1.2, type: 'int32' }, 3)).to.deep.equal([-1, -1, -1])
  })

  it('counts what is sent late, and skips and counts what is older than the longest backlog', async () => {
    const recording = recorder()
    const source = openSimulator({ sampleRateHz: 1000, tickMs: 50, maxBacklogMs: 500 }, recording)
    recording.clock.stall(301)
    expect(source.counters).to.deep.equal({ samples: 302, late: 202, missed: 0 })
    recording.clock.stall(2000)
    expect(source.counters).to.deep.equal({ samples: 802, late: 602, missed: 1500 })
    recording.clock.advance(50)
    await source.close()
    expect(source.counters).to.deep.equal({ samples: 852, late: 602, missed: 1500 })
    const first = recording.rows()[302].time
    expect(first).to.equal(1_700_000_000_000_000_000n + 1802n * 1_000_000n)
  })

  it('makes no samples while it is paused, and counts them as missed', async () => {
    const recording = recorder()
    let paused = true
    recording.isPaused = () => paused
    const source = openSimulator({ sampleRateHz: 100, tickMs: 50 }, recording)
    recording.clock.advance(1000)
    expect(recording.batches).to.deep.equal([])
    paused = false
    recording.clock.advance(1000)
    await source.close()
    expect(source.counters).to.deep.equal({ samples: 100, late: 0, missed: 101 })
  })

  it('waits while it is paused when it is not paced', async () => {
    const recording = recorder()
    let asked = 0
    recording.isPaused = () => asked++ < 20
    const source = openSimulator({ paced: false, maxSamples: 100 }, recording)
    await recording.ended
    expect(asked).to.equal(21)
    expect(source.counters).to.deep.equal({ samples: 100, late: 0, missed: 0 })
  })

  it('ends after the samples asked for', async () => {
    const recording = recorder()
    openSimulator({ sampleRateHz: 1000, tickMs: 50, maxSamples: 120 }, recording)
    recording.clock.advance(1000)
    expect(await recording.ended).to.equal(undefined)
    expect(recording.rows()).to.have.length(120)
  })

  it('emits nothing once closed, and ends with the error of whoever takes its batches', async () => {
    const recording = recorder()
    const source = openSimulator({}, recording)
    await source.close()
    recording.clock.advance(1000)
    expect(recording.batches).to.deep.equal([])

    const failing = recorder()
    failing.emit = () => { throw new Error('no room') }
    openSimulator({ tickMs: 50 }, failing)
    failing.clock.advance(50)
    expect(await failing.ended).to.be.an('error').with.property('message', 'no room')
  })

  it('refuses options that make no sense', () => {
    const open = (/** @type {object} */ options) => () => openSimulator(options, recorder())
    expect(open({ sampleRateHz: 200_000 })).to.throw('Sample rate must be between 0.001 and 100,000 Hz')
    expect(open({ preset: 'channels', channels: [] })).to.throw('Channels')
    expect(open({ preset: 'channels', channels: [{ name: 'a' }, { name: 'a' }] }))
      .to.throw('Channels, row 2: Channel must be unique; "a" is in row 1 too.').with.property('code', 'SLUICE_OPTIONS')
  })

  it('gives the times of the past as recorded ones, from the time it is told to start at', async () => {
    const recording = recorder()
    /** @type {unknown[]} */
    const ways = []
    const record = recording.emit
    recording.emit = (batch, /** @type {object} */ way = {}) => {
      ways.push(way)
      record(batch)
    }
    openSimulator({ paced: false, startTime: '2022-01-01T00:00:00Z', sampleRateHz: 1000, maxSamples: 2 }, recording)
    await recording.ended
    expect(recording.rows().map(({ time }) => time)).to.deep.equal([1_640_995_200_000_000_000n, 1_640_995_200_001_000_000n])
    expect(ways).to.deep.equal([{ recorded: true }])
    expect(() => openSimulator({ paced: false, startTime: 'noon' }, recorder()))
      .to.throw('First time must look like 2022-01-01T00:00:00Z; "noon" does not.')
  })

  it('cuts what is due after a pause into batches of bounded size, and leaves the rest when it is paused', async () => {
    const recording = recorder()
    const options = { preset: 'weissbach', recordsPerSecond: 1000, blobBytes: 99_000, maxBacklogMs: 1000, tickMs: 50 }
    const source = openSimulator(options, recording)
    recording.clock.stall(100)
    expect(recording.batches.map(({ rows }) => rows)).to.deep.equal([...Array(10).fill(10), 1])
    recording.isPaused = () => recording.batches.length === 13
    recording.clock.stall(100)
    expect(recording.batches.map(({ rows }) => rows)).to.deep.equal([...Array(10).fill(10), 1, 10, 10])
    expect(source.counters).to.deep.equal({ samples: 121, late: 1, missed: 0 })
    await source.close()
  })

  it('misses nothing at 100 kHz while the process is busy for 20 ms of every 100, and its times are exact', async () => {
    const recording = recorder()
    const source = openSimulator(
      { preset: 'channels', channels: [{ name: 'sequence', shape: 'counter' }], sampleRateHz: 100_000, maxSamples: 60_000 },
      { ...recording, clock: systemClock }
    )
    const busy = setInterval(() => {
      for (const end = performance.now() + 20; performance.now() < end;);
    }, 100)
    await recording.ended
    clearInterval(busy)
    expect(source.counters).to.include({ samples: 60_000, missed: 0 })
    const start = recording.batches[0].time[0]
    let next = 0
    for (const { time, columns: [sequence] } of recording.batches) {
      for (let row = 0; row < time.length; row++, next++) {
        if (sequence[row] !== next || time[row] !== start + BigInt(next) * 10_000n) {
          expect.fail(`sample ${next} is ${sequence[row]} at ${time[row]}`)
        }
      }
    }
    expect(next).to.equal(60_000)
  })

  it('describes every option', () => {
    for (const [name, property] of Object.entries(schema.properties)) {
      expect(property, name).to.include.all.keys('title', 'description', 'default')
    }
  })
})
