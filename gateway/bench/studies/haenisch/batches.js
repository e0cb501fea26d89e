import { Batch } from '../../../batch/batch.js'

const T0 = 1_700_000_000_000_000_000n
const STEP_NS = 1000n
const SENSORS = 1000
const SOURCE = 'rows'

/**
 * Records of a timestamp, a sensor and a value, about 32 bytes as text, in batches: without end, each client's its own.
 * @param {{batchRows: number}} options @param {number} client  0, 1, …
 * @returns {Generator<Batch, never>}
 */
export function * batchesOf ({ batchRows }, client) {
  const fields = /** @type {const} */ ([{ name: 'sensor', type: 'int32' }, { name: 'value', type: 'float64' }])
  for (let seq = 0; ; seq++) {
    const time = new BigInt64Array(batchRows)
    const sensor = new Int32Array(batchRows)
    const value = new Float64Array(batchRows)
    let ns = T0 + BigInt(client) * 86_400_000_000_000n + BigInt(seq) * BigInt(batchRows) * STEP_NS // no two clients' times are equal
    for (let row = 0; row < batchRows; row++) {
      const n = seq * batchRows + row
      time[row] = ns
      ns += STEP_NS
      sensor[row] = n % SENSORS
      value[row] = Math.sin(n) * 1000
    }
    const identity = { gateway: 'bench', source: SOURCE, epoch: `client-${client}`, seq }
    yield new Batch({ source: SOURCE, time, fields: [...fields], columns: [sensor, value], identity })
  }
}
