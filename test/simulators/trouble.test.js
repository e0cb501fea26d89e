import { expect } from 'chai'
import { NO_TROUBLE, Samples } from '../../gateway/simulators/samples.js'

/** A level at 10 Hz: an hour is 36,000 samples. */
const LEVEL = {
  name: 'level',
  shape: /** @type {const} */ ('square'),
  offset: 20,
  amplitude: 1,
  frequencyHz: 0,
  noise: 0,
  unit: '',
  type: /** @type {const} */ ('float64')
}
const NOISY = { ...LEVEL, noise: 0.5 }
const HOURS = 25
const SAMPLES = HOURS * 36_000

describe('trouble', () => {
  it('spikes as often and as far as told, one sample each, up as often as down', () => {
    const levels = valuesWith({ spikesPerHour: 60, spikeSize: 5 })
    const spikes = levels.filter(level => level !== 21)
    expect(new Set(spikes)).to.deep.equal(new Set([16, 26]))
    expect(spikes.length / HOURS).to.be.within(54, 66)
    expect(spikes.filter(level => level === 26).length / spikes.length).to.be.within(0.45, 0.55)
  })

  it('sticks to a value for a time', () => {
    const levels = valuesWith({ stuckPerHour: 60, stuckSeconds: 5 }, NOISY)
    const runs = runsOf(levels, (value, i) => value === levels[i - 1])
    expect(runs.length / HOURS).to.be.within(54, 66)
    expect(mean(runs) / 10).to.be.within(4.5, 5.5)
  })

  it('drifts steadily', () => {
    const levels = valuesWith({ driftPerHour: -2 })
    expect(levels[0]).to.equal(21)
    expect(levels[18_000]).to.be.closeTo(20, 1e-9)
    expect(levels[36_000]).to.be.closeTo(19, 1e-9)
  })

  it('drops out: values are missing, and the field quality of their rows tells why', () => {
    const whole = samplesWith({ dropoutsPerHour: 60, dropoutSeconds: 5 }).take(SAMPLES)[0]
    const [valid, told] = whole.validity
    expect(whole.fields.map(({ name, type }) => `${name} ${type}`)).to.deep.equal(['level float64', 'quality string'])
    const runs = runsOf(Array.from(/** @type {Uint8Array} */ (valid)), there => there === 0)
    expect(runs.length / HOURS).to.be.within(54, 66)
    expect(mean(runs) / 10).to.be.within(4.5, 5.5)
    const rows = whole.slice(0, 36_000).toObjects()
    expect(rows.some(({ level }) => level === undefined)).to.equal(true)
    for (const { level, quality } of rows) expect(quality).to.equal(level === undefined ? 'dropout' : undefined)
    expect(told).to.deep.equal(Uint8Array.from(/** @type {Uint8Array} */ (valid), there => 1 - there))
  })

  it('has each channel in its own trouble, and names it', () => {
    const channels = [LEVEL, { ...LEVEL, name: 'flow' }, { ...LEVEL, name: 'sequence', shape: /** @type {const} */ ('counter') }]
    const samples = samplesWith({ dropoutsPerHour: 3600, dropoutSeconds: 0.5 }, ...channels)
    const rows = samples.take(1000)[0].toObjects()
    expect(new Set(rows.map(({ quality }) => quality))).to.deep.equal(new Set([
      undefined,
      'level: dropout',
      'flow: dropout',
      'level: dropout; flow: dropout'
    ]))
    expect(rows.map(({ sequence }) => sequence)).to.deep.equal(Array.from({ length: 1000 }, (_, i) => i))
  })

  it('marks nothing in a batch without a gap', () => {
    const samples = samplesWith({ dropoutsPerHour: 1, dropoutSeconds: 1, spikesPerHour: 1000, spikeSize: 3 })
    expect(samples.take(10)[0].fields).to.deep.equal([{ name: 'level', type: 'float64' }])
  })

  it('is the same however the samples are cut', () => {
    const all = {
      spikesPerHour: 1000, spikeSize: 2, dropoutsPerHour: 300, dropoutSeconds: 3, stuckPerHour: 300, stuckSeconds: 2, driftPerHour: 1
    }
    const channels = [
      NOISY,
      { ...NOISY, name: 'walk', shape: /** @type {const} */ ('random-walk') },
      { ...NOISY, name: 'whole', type: /** @type {const} */ ('int16'), amplitude: 1000 }
    ]
    const whole = samplesWith(all, ...channels).take(20_000)[0].toObjects()
    const cut = samplesWith(all, ...channels)
    const pieces = []
    for (let length = 1; pieces.length < 20_000; length = length * 3 % 1999) {
      pieces.push(...cut.take(Math.min(length, 20_000 - pieces.length))[0].toObjects())
    }
    expect(pieces).to.deep.equal(whole)
  })

  it('goes on where samples were left out', () => {
    const all = { spikesPerHour: 1000, spikeSize: 2, dropoutsPerHour: 300, dropoutSeconds: 3, driftPerHour: 1 }
    const whole = samplesWith(all, NOISY).take(20_000)[0].slice(15_000, 20_000).toObjects()
    const samples = samplesWith(all, NOISY)
    samples.take(100)
    samples.skip(14_900)
    expect(samples.take(5000)[0].toObjects()).to.deep.equal(whole)
  })
})

/** @param {object} trouble @param {...import('../../gateway/simulators/waveforms.js').Channel} channels */
function samplesWith (trouble, ...channels) {
  return new Samples({
    source: 'tank',
    channels: channels.length > 0 ? channels : [LEVEL],
    sampleRateHz: 10,
    seed: 4,
    startNs: 1_700_000_000_000_000_000n,
    trouble: { ...NO_TROUBLE, ...trouble }
  })
}

/** @param {object} trouble @param {import('../../gateway/simulators/waveforms.js').Channel} [channel] @returns {Float64Array} */
function valuesWith (trouble, channel = LEVEL) {
  return /** @type {Float64Array} */ (samplesWith(trouble, channel).take(SAMPLES)[0].columns[0])
}

/**
 * The lengths of the runs in which something holds.
 * @param {ArrayLike<number>} values
 * @param {(value: number, index: number) => boolean} holds
 */
function runsOf (values, holds) {
  /** @type {number[]} */
  const runs = []
  for (let i = 0, length = 0; i <= values.length; i++) {
    if (i < values.length && holds(values[i], i)) length++
    else if (length > 0) {
      runs.push(length)
      length = 0
    }
  }
  return runs
}

/** @param {number[]} values */
function mean (values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
