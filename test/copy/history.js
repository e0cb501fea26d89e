import { Batch } from '../../gateway/batch/batch.js'

export const SECOND = 1_000_000_000n
export const T0 = 1_700_000_000n * SECOND

/** @param {number} seq */
export const identity = seq => ({ gateway: 'gw', source: 'press', epoch: '5-a', seq })

/**
 * Rows `from` to `to`, one a second, of which every tenth has another at its time: of all types, with values that are missing.
 * @param {number} from
 * @param {number} to
 * @param {Partial<import('../../gateway/batch/batch.js').BatchInit>} [more]
 */
export function history (from, to, more = {}) {
  const rows = Array.from({ length: to - from }, (_, i) => from + i)
  return new Batch({
    source: 'press',
    time: BigInt64Array.from(rows, row => T0 + BigInt(row - (row % 10 === 1 ? 1 : 0)) * SECOND + 123n),
    fields: [
      { name: 'force', type: 'float64' }, { name: 'speed', type: 'float32' }, { name: 'parts', type: 'int32' },
      { name: 'total', type: 'int64' }, { name: 'ok', type: 'bool' }, { name: 'note', type: 'string' }, { name: 'blob', type: 'bytes' },
      { name: 'register', type: 'uint16' }, { name: 'offset', type: 'int16' }
    ],
    columns: [
      Float64Array.from(rows, row => row / 3), Float32Array.from(rows, row => row / 7), Int32Array.from(rows, row => -row),
      BigInt64Array.from(rows, row => 2n ** 53n + BigInt(row)), Uint8Array.from(rows, row => row % 2), rows.map(row => `ä "${row}"`),
      rows.map(row => Uint8Array.of(row & 255, 0, 255)),
      Uint16Array.from(rows, row => 65_535 - row), Int16Array.from(rows, row => row - 500)
    ],
    validity: [Uint8Array.from(rows, row => row % 5 === 0 ? 0 : 1), ...Array(8).fill(null)],
    tags: { line: 'A', device: { values: rows.map(row => `d${row % 2}`), valid: null } },
    ...more
  })
}
