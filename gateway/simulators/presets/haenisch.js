import { Records } from '../records.js'
import { MAX_NARROW_ROWS, sensorColumn, uniformColumn } from './narrow.js'
import { sensors, stepSeconds } from './properties.js'

const MAX_VALUE = 100

/**
 * The load model of Haenisch, Roessle and Kübler on storing sensor data in different architectures: records of a timestamp, a sensor id and
 * the actual value, about 32 bytes with the unique id that some databases needed (here the batch has an identity). The study does not
 * describe the values: here they are whole numbers from 0 to 100.
 * @type {import('./preset.js').Preset}
 */
export const haenisch = {
  label: 'Sensor records (Haenisch)',
  text: 'Haenisch has records of time, sensor and value too, for building batches of any size.',
  properties: { sensors, stepSeconds },
  open: ({ name, sensors: count, stepSeconds: seconds, seed }, startNs) => new Records({
    source: name,
    columns: [sensorColumn(count), uniformColumn(0, MAX_VALUE, seed)],
    perStep: count,
    stepSeconds: seconds,
    startNs,
    seed,
    maxAtOnce: MAX_NARROW_ROWS
  })
}
