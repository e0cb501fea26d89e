import { derive, fractionAt } from '../base/random.js'

/**
 * What can go wrong with a sensor, as an operator meets it. Only missing values are marked; the rest is for detection to find.
 *
 * @typedef {object} TroubleOptions  mean numbers and lengths, of each channel
 * @property {number} spikesPerHour
 * @property {number} spikeSize  in amplitudes
 * @property {number} dropoutsPerHour
 * @property {number} dropoutSeconds
 * @property {number} stuckPerHour
 * @property {number} stuckSeconds
 * @property {number} driftPerHour  in amplitudes
 */

const SECONDS_AN_HOUR = 3600

/** The trouble of one channel: the same for the same seed, however the samples are cut. */
export class Trouble {
  #spikes
  #dropouts
  #stuck
  #spikeSize
  #driftPerSample
  #seed
  /** the value it is stuck at */
  #stuckAt = 0
  /** the start of the episode that `#stuckAt` is of */
  #stuckSince = -1

  /**
   * @param {TroubleOptions} options
   * @param {{amplitude: number, seconds: number, seed: number}} channel  `seconds`: between two samples
   */
  constructor (options, { amplitude, seconds, seed }) {
    this.#spikes = new Episodes(options.spikesPerHour, 0, seconds, derive(seed, 1))
    this.#dropouts = new Episodes(options.dropoutsPerHour, options.dropoutSeconds, seconds, derive(seed, 2))
    this.#stuck = new Episodes(options.stuckPerHour, options.stuckSeconds, seconds, derive(seed, 3))
    this.#spikeSize = options.spikeSize * amplitude
    this.#driftPerSample = options.driftPerHour * amplitude * seconds / SECONDS_AN_HOUR
    this.#seed = derive(seed, 4)
  }

  /**
   * Adds drift and spikes to good samples, and holds values that are stuck.
   * @param {Float64Array} values
   * @param {number} first  index of the first
   */
  spoil (values, first) {
    const drift = this.#driftPerSample
    if (drift !== 0) for (let i = 0; i < values.length; i++) values[i] += drift * (first + i)
    this.#spikes.within(first, values.length, index => {
      values[index - first] += fractionAt(this.#seed, index) < 0.5 ? this.#spikeSize : -this.#spikeSize
    })
    this.#stuck.within(first, values.length, (from, to, start) => {
      if (start !== this.#stuckSince) this.#stuckAt = values[from - first]
      this.#stuckSince = start
      values.fill(this.#stuckAt, from - first, to - first)
    })
  }

  /** Which of the samples exist: 1, or 0 in a dropout; null where all do. @param {number} first @param {number} rows */
  validity (first, rows) {
    const valid = new Uint8Array(rows).fill(1)
    let isWhole = true
    this.#dropouts.within(first, rows, (from, to) => {
      valid.fill(0, from - first, to - first)
      isWhole = false
    })
    return isWhole ? null : valid
  }
}

/** Spans of samples, one after the other, at random distances. */
class Episodes {
  #meanGap
  #meanLength
  #seed
  #count = 0
  #start = Infinity
  #end = 0

  /**
   * @param {number} perHour
   * @param {number} lengthSeconds  mean; each is one sample at least
   * @param {number} seconds  a sample
   * @param {number} seed
   */
  constructor (perHour, lengthSeconds, seconds, seed) {
    this.#seed = seed
    this.#meanLength = lengthSeconds / seconds
    this.#meanGap = perHour > 0 ? Math.max(SECONDS_AN_HOUR / perHour / seconds - Math.max(this.#meanLength, 1), 0) : Infinity
    this.#next()
  }

  /**
   * Calls for the part of each episode that lies in a range, which begins no earlier than the last one did.
   * @param {number} first @param {number} rows @param {(from: number, to: number, start: number) => void} run  `start` of the whole episode
   */
  within (first, rows, run) {
    const end = first + rows
    while (this.#end <= first && this.#start < Infinity) this.#next()
    while (this.#start < end) {
      run(Math.max(this.#start, first), Math.min(this.#end, end), this.#start)
      if (this.#end > end) return
      this.#next()
    }
  }

  #next () {
    this.#start = this.#end + this.#random(this.#meanGap)
    this.#end = this.#start + Math.max(1, this.#random(this.#meanLength))
  }

  /** Exponentially distributed, in whole samples; Infinity for a mean of Infinity. @param {number} mean */
  #random (mean) {
    return mean === Infinity ? Infinity : Math.round(-mean * Math.log(1 - fractionAt(this.#seed, this.#count++)))
  }
}
