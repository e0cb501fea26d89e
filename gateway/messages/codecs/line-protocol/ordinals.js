import { tagAt, tagColumns } from '../../../batch/tags.js'

/**
 * For each row, how many before it in the whole batch have the same time and tags; null where none have.
 * @param {import('../../../batch/batch.js').Batch} batch
 * @param {number[]} tagFields  those whose values are tags
 * @returns {Uint32Array|null}
 */
export function ordinals (batch, tagFields) {
  const whole = batch.origin?.whole ?? batch
  if (isAscending(whole.time)) return null
  /** @type {Map<unknown, number>} */
  const counts = new Map()
  const nth = new Uint32Array(whole.rows)
  const columns = tagColumns(whole.tags)
  for (let row = 0; row < whole.rows; row++) {
    const time = whole.time[row]
    const tags = [...tagFields.map(field => fieldAt(whole, field, row)), ...columns.map(([, column]) => tagAt(column, row) ?? '')]
    const key = tags.length === 0 ? time : JSON.stringify([String(time), ...tags])
    const before = counts.get(key) ?? 0
    nth[row] = before
    counts.set(key, before + 1)
  }
  if (counts.size === whole.rows) return null
  return batch.origin ? batch.origin.rows.map(row => nth[row]) : nth
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
