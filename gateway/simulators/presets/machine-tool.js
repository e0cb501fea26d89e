import { samplesOf } from '../samples.js'
import { sampleRateHz, trouble } from './properties.js'

/** @typedef {import('../waveforms.js').Channel} Channel */

/**
 * Five analog channels of a machine tool at 3 working cycles a second, 12 bits each: the machine's angle and four sensors with noise on
 * all, after Arnst, Plenk and Wöltche, "Comparative Evaluation of Database Read and Write Performance in an Internet of Things Context".
 * @type {Channel[]}
 */
const CHANNELS = [
  twelveBits('angle', 'sawtooth', 3, 2048),
  twelveBits('sensor1', 'sine', 3, 1600),
  twelveBits('sensor2', 'sine', 6, 1200),
  twelveBits('sensor3', 'sine', 1.5, 800),
  twelveBits('sensor4', 'sine', 0.75, 400)
]

/** @type {import('./preset.js').Preset} */
export const machineTool = {
  label: 'Machine tool (Arnst)',
  text: 'The machine tool has an angle and four sensors of 12 bits at 3 cycles a second, as in the study by Arnst, Plenk and Wöltche.',
  properties: { sampleRateHz, ...trouble },
  open: (options, startNs) => samplesOf(options, CHANNELS, startNs)
}

/**
 * @param {string} name
 * @param {import('../waveforms.js').Shape} shape
 * @param {number} frequencyHz
 * @param {number} amplitude
 * @returns {Channel}
 */
function twelveBits (name, shape, frequencyHz, amplitude) {
  return { name, shape, offset: 2048, amplitude, frequencyHz, noise: 20, unit: '', type: 'uint16', limits: [0, 4095] }
}
