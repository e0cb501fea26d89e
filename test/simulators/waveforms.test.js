import { expect } from 'chai'
import { bitsAt, fractionAt, stateAt } from '../../gateway/base/random.js'
import { waveform } from '../../gateway/simulators/waveforms.js'

const sine = {
  name: 'x',
  shape: /** @type {const} */ ('sine'),
  offset: 10,
  amplitude: 4,
  frequencyHz: 50,
  noise: 1,
  unit: '',
  type: /** @type {const} */ ('float64')
}

describe('waveforms', () => {
  for (const shape of /** @type {const} */ (['sine', 'sawtooth', 'square', 'noise', 'random-walk', 'counter'])) {
    it(`gives the same ${shape} however it is cut, and for the same seed only`, () => {
      const whole = drawn({ ...sine, shape }, [5000])
      expect(drawn({ ...sine, shape }, [1, 1023, 2, 1000, 1025, 1949])).to.deep.equal(whole)
      if (shape !== 'counter') expect(drawn({ ...sine, shape }, [5000], 2)).not.to.deep.equal(whole)
    })
  }

  it('makes a sample of its index, whatever was left out before', () => {
    const all = new Float64Array(3000)
    waveform(sine, 1e-3, 1)(all, 0)
    const late = new Float64Array(1000)
    waveform(sine, 1e-3, 1)(late, 2000)
    expect(late).to.deep.equal(all.slice(2000))
  })

  it('counts from 0 on, and again from 0 where the type ends, without noise', () => {
    expect(Array.from(counted('float64', 2 ** 40))).to.deep.equal([2 ** 40, 2 ** 40 + 1, 2 ** 40 + 2])
    expect(Array.from(counted('uint16', 65534))).to.deep.equal([65534, 65535, 0])
    expect(Array.from(counted('int16', 32766))).to.deep.equal([32766, 32767, 0])
    expect(Array.from(counted('int32', 2 ** 31 - 2))).to.deep.equal([2 ** 31 - 2, 2 ** 31 - 1, 0])
    expect(Array.from(counted('float32', 2 ** 24 - 2))).to.deep.equal([2 ** 24 - 2, 2 ** 24 - 1, 0])
  })
})

describe('random numbers by index', () => {
  it('are the same one by one and in a row, beyond 32 bits too', () => {
    for (const first of [0, 2 ** 32 - 5, 2 ** 32, 2 ** 45 + 7]) {
      const state = stateAt(7, first)
      for (let row = 0; row < 5; row++) expect((bitsAt(state, row) >>> 0) / 2 ** 32).to.equal(fractionAt(7, first + row))
    }
  })

  it('are evenly spread, and unlike those of the next seed and the next 2³² indices', () => {
    const tenths = new Array(10).fill(0)
    let seeds = 0
    let turns = 0
    for (let index = 0; index < 100_000; index++) {
      const fraction = fractionAt(1, index)
      tenths[Math.floor(fraction * 10)]++
      seeds += (fraction - 0.5) * (fractionAt(2, index) - 0.5)
      turns += (fraction - 0.5) * (fractionAt(1, index + 2 ** 32) - 0.5)
    }
    for (const count of tenths) expect(count).to.be.within(9700, 10300)
    expect(Math.abs(seeds / 100_000)).to.be.below(0.002)
    expect(Math.abs(turns / 100_000)).to.be.below(0.002)
  })
})

/**
 * @param {import('../../gateway/simulators/waveforms.js').Channel} channel
 * @param {number[]} lengths  of the pieces it is drawn in
 * @param {number} [seed]
 */
function drawn (channel, lengths, seed = 1) {
  const fill = waveform(channel, 1e-3, seed)
  let first = 0
  return lengths.flatMap(length => {
    const column = new Float64Array(length)
    fill(column, first)
    first += length
    return Array.from(column)
  })
}

/** @param {import('../../gateway/simulators/waveforms.js').ChannelType} type @param {number} first */
function counted (type, first) {
  const column = new { float64: Float64Array, float32: Float32Array, int32: Int32Array, int16: Int16Array, uint16: Uint16Array }[type](3)
  waveform({ ...sine, shape: 'counter', type }, 1, 1)(column, first)
  return column
}
