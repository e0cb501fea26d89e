import { Batch } from '../../../gateway/batch/batch.js'

/**
 * Batches whose rows are known: values are whole numbers, so that sums are exact however they are added up.
 *
 * @typedef {{count: number, sum: number, min: number, max: number}} Statistic
 * @typedef {object} Ledger  of what has been staged
 * @property {number} rows
 * @property {Record<string, Statistic>} fields  by source and field
 * @property {Record<string, Statistic>} windows  by source, device, field and the window's begin in milliseconds
 */

/** Of rows that come in time, since windows are open for a day; others are older. */
const T0_MS = Math.floor(Date.now() / 60_000) * 60_000 - 2 * 3_600_000
const STEP_MS = 20
const DEVICES = 5
const FIELDS = /** @type {import('../../../gateway/batch/batch.js').Field[]} */ ([
  { name: 'speed', type: 'float64' }, { name: 'pressure', type: 'float32' }, { name: 'torque', type: 'int16' },
  { name: 'total', type: 'int64' }, { name: 'state', type: 'string' }, { name: 'door', type: 'bool' }
])
const NUMBERS = ['speed', 'pressure', 'torque', 'total']

export const WINDOW_MS = 60_000

/**
 * Of two sources in turns; rows of several devices, in which every seventh speed is missing.
 * @param {number} rows  of a batch @param {number} seq  of its source
 * @param {string} source
 */
export function batchOf (rows, seq, source) {
  const first = seq * rows
  const numbers = Array.from({ length: rows }, (_, row) => first + row)
  const values = numbers.map(n => (n * 7919) % 10_007)
  return new Batch({
    source,
    time: BigInt64Array.from(numbers, n => BigInt(T0_MS + n * STEP_MS) * 1_000_000n + 321n),
    fields: FIELDS,
    columns: [
      Float64Array.from(values), Float32Array.from(values, value => value / 4), Int16Array.from(values, value => value - 5000),
      BigInt64Array.from(numbers, n => BigInt(n)), values.map(value => `"${value % 3}" \\ ü`), Uint8Array.from(values, value => value % 2)
    ],
    validity: [Uint8Array.from(numbers, n => n % 7 === 0 ? 0 : 1), null, null, null, null, null],
    tags: { line: 'a/b', device: { values: numbers.map(n => `d${n % DEVICES}`), valid: null } },
    identity: { gateway: 'plant', source, epoch: '1790000000-beef01', seq: Math.abs(seq) }
  })
}

/** @param {Iterable<Batch>} batches @returns {Ledger} */
export function ledgerOf (batches) {
  /** @type {Ledger} */
  const ledger = { rows: 0, fields: {}, windows: {} }
  const add = (/** @type {Record<string, Statistic>} */ to, /** @type {string} */ name, /** @type {number} */ value) => {
    const its = to[name] ??= { count: 0, sum: 0, min: Infinity, max: -Infinity }
    its.count++
    its.sum += value
    its.min = Math.min(its.min, value)
    its.max = Math.max(its.max, value)
  }
  for (const batch of batches) {
    ledger.rows += batch.rows
    for (let row = 0; row < batch.rows; row++) {
      const ms = Number(batch.time[row] / 1_000_000n)
      const { device } = batch.tagsAt(row)
      for (const name of NUMBERS) {
        const value = batch.value(FIELDS.findIndex(field => field.name === name), row)
        if (value === undefined) continue
        add(ledger.fields, `${batch.source} ${name}`, Number(value))
        add(ledger.windows, `${batch.source} ${device} ${name} ${ms - ms % WINDOW_MS}`, Number(value))
      }
    }
  }
  return ledger
}
