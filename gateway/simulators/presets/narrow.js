import { bitsAt, stateAt } from '../../base/random.js'

/** @typedef {import('../records.js').RecordColumn} RecordColumn */

const TWO_TO_32 = 2 ** 32

/** Records of three numbers are as cheap as they get; the largest batch of SciTS is 100,000 of them. */
export const MAX_NARROW_ROWS = 100_000

/** Sensors take turns: record i is of sensor i modulo their number. @param {number} sensors @returns {RecordColumn} */
export function sensorColumn (sensors) {
  return {
    name: 'sensor_id',
    type: 'int64',
    fill (/** @type {BigInt64Array} */ column, first) {
      for (let row = 0, sensor = first % sensors; row < column.length; row++) {
        column[row] = BigInt(sensor)
        if (++sensor === sensors) sensor = 0
      }
    }
  }
}

/** Whole numbers, evenly spread. @param {number} lowest @param {number} highest @param {number} seed @returns {RecordColumn} */
export function uniformColumn (lowest, highest, seed) {
  const scale = (highest - lowest + 1) / TWO_TO_32
  return {
    name: 'value',
    type: 'float64',
    fill (/** @type {Float64Array} */ column, first) {
      const state = stateAt(seed, first)
      for (let row = 0; row < column.length; row++) column[row] = lowest + Math.floor((bitsAt(state, row) >>> 0) * scale)
    }
  }
}
