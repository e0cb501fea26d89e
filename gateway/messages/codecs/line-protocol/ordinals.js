import { tagAt, tagColumns } from '../../../batch/tags.js'

/**
 * For each row, a number that no other of the same time and tags has; null where none has another.
 *
 * Those that the stage has given it do not know which fields are tags. Where all rows that it has counted for one are in the batch, too,
 * only those count that are the same in these fields as well.
 * @param {import('../../../batch/batch.js').Batch} batch
 * @param {number[]} tagFields  those whose values are tags
 * @returns {Int32Array|null}
 */
export function ordinals (batch, tagFields) {
  if (batch.ordinals && tagFields.length === 0) return batch.ordinals
  const whole = batch.origin?.whole ?? batch
  if (!whole.ordinals && isAscending(whole.time)) return null
  const all = counted(whole, tagFields)
  if (whole.ordinals) {
    const inBatch = counted(whole, [])
    whole.ordinals.forEach((ordinal, row) => { if (ordinal !== inBatch[row]) all[row] = ordinal })
  }
  if (!all.some(Boolean)) return null
  return batch.origin ? Int32Array.from(batch.origin.rows, row => all[row]) : all
}

/**
 * For each row, how many before it have the same time and tags.
 * @param {import('../../../batch/batch.js').Batch} batch
 * @param {number[]} tagFields
 */
function counted (batch, tagFields) {
  /** @type {Map<unknown, number>} */
  const counts = new Map()
  const nth = new Int32Array(batch.rows)
  const columns = tagColumns(batch.tags)
  for (let row = 0; row < batch.rows; row++) {
    const time = batch.time[row]
    const tags = [...tagFields.map(field => fieldAt(batch, field, row)), ...columns.map(([, column]) => tagAt(column, row) ?? '')]
    const key = tags.length === 0 ? time : JSON.stringify([String(time), ...tags])
    const before = counts.get(key) ?? 0
    nth[row] = before
    counts.set(key, before + 1)
  }
  return nth
}

/** @param {import('../../../batch/batch.js').Batch} batch @param {number} field @param {number} row */
function fieldAt (batch, field, row) {
  return String(batch.value(field, row) ?? '')
}

/** @param {BigInt64Array} time  whether all times differ, checked cheaply */
function isAscending (time) {
  for (let row = 1; row < time.length; row++) {
    if (time[row] <= time[row - 1]) return false
  }
  return true
}
