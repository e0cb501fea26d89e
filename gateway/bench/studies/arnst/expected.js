import { AMPLITUDE, CHANNELS, PERIOD_NS, samplesAt } from './machine.js'

/**
 * The cycle that a reader has to find, from the simulated samples themselves: whoever reads another one, or sums it otherwise, has not
 * read what was written.
 *
 * @typedef {import('./writer.js').Stored} Stored
 *
 * @typedef {object} Expected
 * @property {bigint[]} times  t1 … t5, as in Figure 3
 * @property {bigint} start  t4
 * @property {bigint} end  t5
 * @property {number[]} sums  of each channel, both ends included
 */

/** On either side of the time: two cycles and more. */
const AROUND_SAMPLES = 2000

/**
 * @param {bigint} at
 * @param {Stored} stored
 * @returns {Expected|null} null where no whole cycle is stored around it
 */
export function expectedAt (at, { startNs, runs }) {
  const index = Number((at - startNs) / PERIOD_NS) // the last sample at or before it
  const first = Math.max(0, index - AROUND_SAMPLES)
  const samples = samplesAt(startNs, first, index + AROUND_SAMPLES - first)
  const near = runs.filter(([from, to]) => to > first && from < index + AROUND_SAMPLES)
  const rows = [...samples.time.keys()].filter(row => near.some(([from, to]) => first + row >= from && first + row < to))
  const angle = (/** @type {number} */ row) => Number(samples.columns[0][row])
  const [half, eighth] = [AMPLITUDE / 2, AMPLITUDE / 8]

  const t1 = rows.find(row => first + row > index && angle(row) > half) ?? -1
  const t2 = rows.findLast(row => row < t1 && angle(row) < eighth) ?? -1
  const t3 = rows.findLast(row => row < t2 && angle(row) > half) ?? -1
  const t5 = rows.find(row => row > t1 && angle(row) < eighth) ?? -1
  if ([t1, t2, t3, t5].includes(-1)) return null
  const t4 = rows.filter(row => row >= t3 && row <= t2).reduce((least, row) => angle(row) < angle(least) ? row : least)

  const cycle = rows.filter(row => row >= t4 && row <= t5)
  const sums = CHANNELS.map((_, channel) => cycle.reduce((sum, row) => sum + Number(samples.columns[channel][row]), 0))
  const times = [t1, t2, t3, t4, t5].map(row => samples.time[row])
  return { times, start: times[3], end: times[4], sums }
}
