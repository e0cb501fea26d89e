/** Options that several presets have. */

export const sampleRateHz = {
  type: 'number',
  title: 'Sample rate',
  description: 'Samples a second of every channel.',
  minimum: 0.001,
  maximum: 100_000,
  default: 1000,
  'x-unit': 'Hz'
}

export const sensors = {
  type: 'integer',
  title: 'Sensors',
  description: 'How many there are, numbered from 0: SensorNumber of SciTS. Each gives a record at every step.',
  minimum: 1,
  maximum: 10_000_000,
  default: 100_000
}

export const stepSeconds = {
  type: 'number',
  title: 'Step',
  description: 'Between two records of a sensor.',
  minimum: 0.001,
  maximum: 86400,
  default: 1,
  'x-unit': 's'
}

/** What goes wrong with the channels, with all alike. */
export const trouble = {
  spikesPerHour: perHour('Spikes', 'Single samples far off, up or down: how many an hour each channel has on average.', 1_000_000),
  spikeSize: {
    type: 'number',
    title: 'Size of spikes',
    description: 'How far off, in amplitudes of the channel.',
    minimum: 0,
    maximum: 1000,
    default: 5,
    'x-unit': 'amplitudes',
    'x-advanced': true
  },
  dropoutsPerHour: perHour(
    'Dropouts',
    'Times without a value, an hour of each channel on average. The rows come, with "dropout" in their field "quality".',
    100_000
  ),
  dropoutSeconds: meanSeconds('Length of dropouts'),
  stuckPerHour: perHour('Stuck values', 'Times in which the value stands still, an hour of each channel on average.', 100_000),
  stuckSeconds: meanSeconds('Length of stuck values'),
  driftPerHour: {
    type: 'number',
    title: 'Drift',
    description: 'How far every channel wanders off in an hour, in its amplitudes.',
    minimum: -1000,
    maximum: 1000,
    default: 0,
    'x-unit': 'amplitudes/h',
    'x-advanced': true
  }
}

/** @param {string} title @param {string} description @param {number} maximum */
function perHour (title, description, maximum) {
  return { type: 'number', title, description, minimum: 0, maximum, default: 0, 'x-unit': '/h', 'x-advanced': true }
}

/** @param {string} title */
function meanSeconds (title) {
  return {
    type: 'number',
    title,
    description: 'On average; they vary at random.',
    minimum: 0,
    maximum: 3600,
    default: 1,
    'x-unit': 's',
    'x-advanced': true
  }
}
