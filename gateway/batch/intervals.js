import { floor } from './layouts.js'

/** @typedef {import('./batch.js').Batch} Batch */

/**
 * A batch in parts that each lie within one interval of a length: a part ends where a row belongs to another interval than the row before.
 * @param {Batch} batch
 * @param {bigint} intervalNs
 * @returns {{start: bigint, part: Batch}[]} `start` of the interval
 */
export function byInterval (batch, intervalNs) {
  const { time, rows } = batch
  /** @type {{start: bigint, from: number}[]} */
  const found = []
  for (let row = 0; row < rows; row++) {
    const last = found.at(-1)
    if (last && time[row] >= last.start && time[row] < last.start + intervalNs) continue
    found.push({ start: floor(time[row], intervalNs), from: row })
  }
  if (found.length < 2) return found.map(({ start }) => ({ start, part: batch }))
  return found.map(({ start, from }, i) => ({ start, part: batch.slice(from, found[i + 1]?.from ?? rows) }))
}
