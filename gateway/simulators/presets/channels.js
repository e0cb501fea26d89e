import { samplesOf } from '../samples.js'
import { sampleRateHz, trouble } from './properties.js'

/** @type {import('./preset.js').Preset} */
export const channels = {
  label: 'My own channels',
  text: 'Describe channels of your own, or take the data of a study.',
  properties: {
    channels: {
      type: 'array',
      title: 'Channels',
      description: 'One column each, all sampled at the same times.',
      minItems: 1,
      maxItems: 1000,
      'x-unique': ['name'],
      'x-check': 'field-names',
      default: [{ name: 'value', shape: 'sine', offset: 0, amplitude: 1, frequencyHz: 1, noise: 0, unit: '', type: 'float64' }],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', title: 'Channel', description: 'Names the column.', default: 'value', minLength: 1 },
          shape: {
            type: 'string',
            title: 'Shape',
            description: 'How the value changes. A counter numbers the samples from 0, so that a lost one shows.',
            enum: ['sine', 'sawtooth', 'square', 'noise', 'random-walk', 'counter'],
            default: 'sine'
          },
          offset: { type: 'number', title: 'Offset', description: 'The middle of the values.', default: 0 },
          amplitude: { type: 'number', title: 'Amplitude', description: 'How far the value goes from the middle, either way.', default: 1 },
          frequencyHz: {
            type: 'number',
            title: 'Frequency',
            description: 'Cycles a second of a sine, sawtooth or square.',
            minimum: 0,
            maximum: 50_000,
            default: 1,
            'x-unit': 'Hz'
          },
          noise: { type: 'number', title: 'Noise', description: 'Largest random deviation on top.', minimum: 0, default: 0 },
          unit: { type: 'string', title: 'Unit', description: 'Kept with the column, for example °C.', default: '' },
          type: {
            type: 'string',
            title: 'Type',
            description: 'What a value is stored as; whole numbers are rounded and kept within their range.',
            enum: ['float64', 'float32', 'int32', 'int16', 'uint16'],
            default: 'float64'
          }
        }
      }
    },
    sampleRateHz,
    ...trouble
  },
  open: (options, startNs) => samplesOf(options, options.channels, startNs)
}
