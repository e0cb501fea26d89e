import { bitsAt, stateAt } from '../../../base/random.js'
import { Batch } from '../../../batch/batch.js'

/** The table; the field of the sensor's number, and that of its value. */
export const TABLE = 'rows'
export const SENSOR = 'sensor_id'
export const VALUE = 'value'

const SEED = 2022

/**
 * The rows that are written.
 * @typedef {object} Rows
 * @property {number} batchRows
 * @property {number} sensors
 * @property {bigint} startNs
 * @property {bigint} stepNs  from one row to the next
 * @property {number} clients  who take turns: the first batch is the first one's, the second the second one's
 */

/**
 * Rows of a timestamp, the number of a sensor and a value, in batches, without end. Times increase regularly, the sensors follow each
 * other, and values are uniform from 0 to 2³¹ − 1.
 * @param {Rows} rows @param {number} client  0, 1, …
 * @returns {Generator<Batch, never>}
 */
export function * batchesOf ({ batchRows, sensors, startNs, stepNs, clients }, client) {
  const fields = /** @type {const} */ ([{ name: SENSOR, type: 'int64' }, { name: VALUE, type: 'float64' }])
  // As long as a batch and one round: what a batch has is one piece of it.
  const rounds = BigInt64Array.from({ length: batchRows + sensors }, (_, i) => BigInt(i % sensors))
  for (let seq = 0; ; seq++) {
    const first = (seq * clients + client) * batchRows
    const time = new BigInt64Array(batchRows)
    const value = new Float64Array(batchRows)
    const state = stateAt(SEED, first)
    let ns = startNs + BigInt(first) * stepNs
    for (let row = 0; row < batchRows; row++) {
      time[row] = ns
      ns += stepNs
      value[row] = bitsAt(state, row) >>> 1
    }
    const sensor = rounds.slice(first % sensors, first % sensors + batchRows)
    const identity = { gateway: 'bench', source: TABLE, epoch: `client-${client}`, seq }
    yield new Batch({ source: TABLE, time, fields: [...fields], columns: [sensor, value], identity })
  }
}
