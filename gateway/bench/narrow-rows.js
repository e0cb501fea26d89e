import { Batch } from '../batch/batch.js'

const T0 = 1_700_000_000_000_000_000n
const SENSORS = 1000

/**
 * Batches of time, sensor and value, as the papers' narrow tables have them: a row a microsecond, from sensors in turn.
 * @param {{rows: number, batchRows: number, source: string}} options
 * @returns {Batch[]}
 */
export function narrowBatches ({ rows, batchRows, source }) {
  return Array.from({ length: Math.ceil(rows / batchRows) }, (_, seq) => {
    const first = seq * batchRows
    const indices = Array.from({ length: Math.min(batchRows, rows - first) }, (_row, i) => first + i)
    return new Batch({
      source,
      time: BigInt64Array.from(indices, i => T0 + BigInt(i) * 1000n),
      fields: [{ name: 'sensor', type: 'int32' }, { name: 'value', type: 'float64' }],
      columns: [Int32Array.from(indices, i => i % SENSORS), Float64Array.from(indices, i => Math.sin(i) * 1000)],
      identity: { gateway: 'bench', source, epoch: 'bench', seq }
    })
  })
}

/** @param {number[]} values */
export function median (values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
