import { bitsAt, derive, stateAt } from '../base/random.js'

/**
 * @typedef {'sine'|'sawtooth'|'square'|'noise'|'random-walk'|'counter'} Shape
 * @typedef {'float64'|'float32'|'int32'|'int16'|'uint16'} ChannelType
 *
 * @typedef {object} Channel
 * @property {string} name
 * @property {Shape} shape
 * @property {number} offset  the middle
 * @property {number} amplitude  how far the shape goes from the middle, either way
 * @property {number} frequencyHz  of what repeats
 * @property {number} noise  largest deviation of the evenly spread noise on top
 * @property {string} unit
 * @property {ChannelType} type  whole numbers are rounded and kept within their range
 * @property {[number, number]} [limits]  narrower than the type's
 *
 * @typedef {Float64Array|Float32Array|Int32Array|Int16Array|Uint16Array} NumberColumn
 *
 * @typedef {(values: Float64Array, first: number) => void} Draw  fills an array with the samples from index `first` on
 */

/** Made at a time: few enough to stay in the processor's cache. A power of two. */
const BLOCK_SAMPLES = 1024
const block = new Float64Array(BLOCK_SAMPLES)

const TWO_PI = 2 * Math.PI
const TWO_TO_31 = 2 ** 31

/** Of a random walk, as part of its amplitude. */
const MAX_STEP = 0.02

/**
 * @type {Record<ChannelType, {lowest: number, highest: number, whole: boolean, counts: number}>} `counts`: how many numbers from 0 on it
 *   tells apart
 */
const TYPES = {
  float64: { lowest: -Infinity, highest: Infinity, whole: false, counts: 2 ** 53 },
  float32: { lowest: -Infinity, highest: Infinity, whole: false, counts: 2 ** 24 },
  int32: { lowest: -(2 ** 31), highest: 2 ** 31 - 1, whole: true, counts: 2 ** 31 },
  int16: { lowest: -(2 ** 15), highest: 2 ** 15 - 1, whole: true, counts: 2 ** 15 },
  uint16: { lowest: 0, highest: 2 ** 16 - 1, whole: true, counts: 2 ** 16 }
}

/**
 * A function that fills a column with a channel's samples from index `first` on. The same seed gives the same samples, however they are
 * cut into columns.
 * @param {Channel} channel
 * @param {number} seconds  between two samples
 * @param {number} seed
 * @param {Draw} [spoil]  what goes wrong with the samples; never with those of a counter
 * @returns {(column: NumberColumn, first: number) => void}
 */
export function waveform (channel, seconds, seed, spoil) {
  const { type, noise, shape } = channel
  const { lowest, highest, whole } = TYPES[type]
  const limits = channel.limits ?? [lowest, highest]
  const draw = shapes[shape](channel, channel.frequencyHz * seconds, derive(seed, 0))
  const passes = [noise > 0 && addNoise(noise, derive(seed, 1)), spoil, whole && round, limits[0] > -Infinity && clamp(limits)]
  const steps = shape === 'counter' ? [draw] : [draw, ...passes.filter(pass => typeof pass === 'function')]
  return (column, first) => {
    for (let row = 0; row < column.length;) {
      const index = first + row
      const values = block.subarray(0, Math.min(column.length - row, BLOCK_SAMPLES - index % BLOCK_SAMPLES))
      for (const step of steps) step(values, index)
      column.set(values, row)
      row += values.length
    }
  }
}

/** @type {Record<Shape, (channel: Channel, cyclesPerSample: number, seed: number) => Draw>} */
const shapes = {
  sine: ({ offset, amplitude }, cyclesPerSample) => (values, first) => {
    for (let i = 0; i < values.length; i++) values[i] = offset + amplitude * Math.sin(TWO_PI * phase((first + i) * cyclesPerSample))
  },

  sawtooth: ({ offset, amplitude }, cyclesPerSample) => (values, first) => {
    for (let i = 0; i < values.length; i++) values[i] = offset + amplitude * (2 * phase((first + i) * cyclesPerSample) - 1)
  },

  square: ({ offset, amplitude }, cyclesPerSample) => (values, first) => {
    for (let i = 0; i < values.length; i++) values[i] = phase((first + i) * cyclesPerSample) < 0.5 ? offset + amplitude : offset - amplitude
  },

  noise: ({ offset, amplitude }, _, seed) => {
    const add = addNoise(amplitude, seed)
    return (values, first) => add(values.fill(offset), first)
  },

  // Where samples are left out, it goes on from where it was.
  'random-walk': ({ offset, amplitude }, _, seed) => {
    let at = 0
    return (values, first) => {
      const state = stateAt(seed, first)
      for (let i = 0; i < values.length; i++) {
        at += MAX_STEP * deviation(bitsAt(state, i))
        if (Math.abs(at) > 1) at = Math.sign(at) * 2 - at
        values[i] = offset + amplitude * at
      }
    }
  },

  counter: ({ type }) => (values, first) => {
    const { counts } = TYPES[type]
    for (let i = 0; i < values.length; i++) values[i] = (first + i) % counts
  }
}

/** @param {number} largest @param {number} seed @returns {Draw} */
function addNoise (largest, seed) {
  return (values, first) => {
    const state = stateAt(seed, first)
    for (let i = 0; i < values.length; i++) values[i] += largest * deviation(bitsAt(state, i))
  }
}

/** @type {Draw} */
function round (values) {
  for (let i = 0; i < values.length; i++) values[i] = Math.round(values[i])
}

/** @param {[number, number]} limits @returns {Draw} */
function clamp ([lowest, highest]) {
  return values => {
    for (let i = 0; i < values.length; i++) {
      const value = values[i]
      values[i] = value < lowest ? lowest : value > highest ? highest : value
    }
  }
}

/** The part of a cycle that has passed, 0 to 1. @param {number} cycles */
function phase (cycles) {
  return cycles - Math.floor(cycles)
}

/** Evenly spread between -1 and 1. @param {number} bits */
function deviation (bits) {
  return bits / TWO_TO_31
}
