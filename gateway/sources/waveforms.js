/**
 * @typedef {'sine'|'sawtooth'|'square'|'noise'|'random-walk'} Shape
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
 */

const TWO_PI = 2 * Math.PI

/** A random walk's longest step, as part of its amplitude. */
const STEP = 0.02

/** @type {Record<ChannelType, [number, number]>} */
const TYPE_LIMITS = {
  float64: [-Infinity, Infinity],
  float32: [-Infinity, Infinity],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  uint16: [0, 2 ** 16 - 1]
}

/**
 * Five analog channels of a machine tool at 3 working cycles a second, 12 bits each: the machine's angle and four sensors with noise on
 * all, after Arnst, Plenk and Wöltche, "Comparative Evaluation of Database Read and Write Performance in an Internet of Things Context".
 * @type {Channel[]}
 */
export const MACHINE_TOOL = [
  twelveBits('angle', 'sawtooth', 3, 2048),
  twelveBits('sensor1', 'sine', 3, 1600),
  twelveBits('sensor2', 'sine', 6, 1200),
  twelveBits('sensor3', 'sine', 1.5, 800),
  twelveBits('sensor4', 'sine', 0.75, 400)
]

/** @param {string} name @param {Shape} shape @param {number} frequencyHz @param {number} amplitude @returns {Channel} */
function twelveBits (name, shape, frequencyHz, amplitude) {
  return { name, shape, offset: 2048, amplitude, frequencyHz, noise: 20, unit: '', type: 'uint16', limits: [0, 4095] }
}

/**
 * A function that fills a column with a channel's samples from index `first` on. The same seed gives the same samples, however they are
 * cut into columns.
 * @param {Channel} channel
 * @param {number} seconds  between two samples
 * @param {number} seed
 * @returns {(column: NumberColumn, first: number) => void}
 */
export function waveform (channel, seconds, seed) {
  const { type, noise, limits: [lowest, highest] = TYPE_LIMITS[type] } = channel
  const random = randomDeviations(seed)
  const value = shapes[channel.shape](channel, channel.frequencyHz * seconds, random)
  const whole = !type.startsWith('float')
  return (column, first) => {
    for (let row = 0; row < column.length; row++) {
      let sample = value(first + row)
      if (noise > 0) sample += noise * random()
      if (whole) sample = Math.round(sample)
      column[row] = sample < lowest ? lowest : sample > highest ? highest : sample
    }
  }
}

/** @type {Record<Shape, (channel: Channel, cyclesPerSample: number, random: () => number) => (index: number) => number>} */
const shapes = {
  sine: ({ offset, amplitude }, cyclesPerSample) => index => offset + amplitude * Math.sin(TWO_PI * phase(index * cyclesPerSample)),

  sawtooth: ({ offset, amplitude }, cyclesPerSample) => index => offset + amplitude * (2 * phase(index * cyclesPerSample) - 1),

  square: ({ offset, amplitude }, cyclesPerSample) => index => phase(index * cyclesPerSample) < 0.5 ? offset + amplitude : offset - amplitude,

  noise: ({ offset, amplitude }, _, random) => () => offset + amplitude * random(),

  'random-walk': ({ offset, amplitude }, _, random) => {
    let at = 0
    return () => {
      at += STEP * random()
      if (Math.abs(at) > 1) at = Math.sign(at) * 2 - at
      return offset + amplitude * at
    }
  }
}

/** The part of a cycle that has passed, 0 to 1. @param {number} cycles */
function phase (cycles) {
  return cycles - Math.floor(cycles)
}

/** Evenly spread numbers between -1 and 1 (Marsaglia's xorshift, 32 bits). @param {number} seed */
function randomDeviations (seed) {
  // Neighbouring seeds are spread apart; the state must not be 0.
  let state = Math.imul(seed + 1, 0x9E3779B1) ^ 0x5BF03635 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state / 0x80000000
  }
}
