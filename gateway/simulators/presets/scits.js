import { Records } from '../records.js'
import { MAX_NARROW_ROWS, sensorColumn, uniformColumn } from './narrow.js'
import { sensors, stepSeconds } from './properties.js'

const MAX_INT32 = 2 ** 31 - 1

/**
 * The records of Mostafa et al., "SciTS: A Benchmark for Time-Series Databases in Scientific Experiments and Industrial Internet of
 * Things", sections 4.3 and 5: (timestamp, sensor_id, value), 8 bytes each, the values evenly spread in 0…2³¹−1. KATRIN's control system
 * has at most 100,000 a second. As in its program, the records of a regular step share one time, and those of an irregular step are
 * anywhere in it.
 * @type {import('./preset.js').Preset}
 */
export const scits = {
  label: 'SciTS (Mostafa)',
  text: 'SciTS has records of time, sensor and value, for many sensors.',
  properties: {
    sensors,
    stepSeconds,
    steps: {
      type: 'string',
      title: 'Times',
      description: 'Whether the records of a step share its time, or each is at a random time within it, and sent when the step is ' +
        'over. IngestionType of SciTS.',
      enum: ['regular', 'irregular'],
      'x-labels': { regular: 'Regular', irregular: 'Irregular' },
      default: 'regular'
    },
    lowest: {
      ...bound('Lowest value', 'Of the equally probable whole numbers. SciTS has 0; its MinValue is a bound of a query.', 0),
      'x-check': 'not-above-highest'
    },
    highest: bound('Highest value', 'SciTS has 2³¹ − 1; its MaxValue is a bound of a query.', MAX_INT32)
  },
  open: ({ name, sensors: count, stepSeconds: seconds, steps, lowest, highest, seed }, startNs) => {
    return new Records({
      source: name,
      columns: [sensorColumn(count), uniformColumn(lowest, highest, seed)],
      perStep: count,
      stepSeconds: seconds,
      irregular: steps === 'irregular',
      startNs,
      seed,
      maxAtOnce: MAX_NARROW_ROWS
    })
  }
}

/** @param {string} title @param {string} description @param {number} value */
function bound (title, description, value) {
  return { type: 'integer', title, description, minimum: -MAX_INT32 - 1, maximum: MAX_INT32, default: value, 'x-advanced': true }
}
