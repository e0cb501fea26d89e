import { Batch } from '../../gateway/batch/batch.js'
import { deadLetter } from '../../gateway/dead-letters/dead-letter.js'

/** Row after row of one refused batch. @param {number} seq @param {number[]} values */
export function refused (seq, values) {
  const batch = new Batch({
    source: 'machine',
    time: BigInt64Array.from(values, (_, i) => BigInt(i)),
    fields: [{ name: 'x', type: 'float64' }],
    columns: [Float64Array.from(values)],
    identity: { gateway: 'gw', source: 'machine', epoch: '1-a', seq }
  })
  return values.map((_, row) => deadLetter(batch, row, new Error('out of range')))
}
