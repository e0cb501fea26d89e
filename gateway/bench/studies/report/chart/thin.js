import { isNumber } from '../numbers.js'

/** @typedef {{x: number, y: number}|null} Point  null: the line is interrupted */

/**
 * Of a line with more points than a chart has pixels, the lowest and the highest in each slice: a short peak must not get lost.
 * @param {Point[]} points
 * @param {number} slices
 */
export function thinned (points, slices) {
  if (points.length <= 2 * slices) return points
  const size = points.length / slices
  return Array.from({ length: slices }, (_, i) => {
    const slice = points.slice(Math.floor(i * size), Math.floor((i + 1) * size))
    const there = slice.filter(point => point !== null)
    if (there.length === 0) return [null]
    const lowest = there.reduce((least, point) => point.y < least.y ? point : least)
    const highest = there.reduce((most, point) => point.y > most.y ? point : most)
    const ends = lowest === highest ? [lowest] : [lowest, highest].sort((a, b) => there.indexOf(a) - there.indexOf(b))
    return slice.includes(null) ? [...ends, null] : ends
  }).flat()
}

/** @param {{x: readonly unknown[], y: readonly unknown[]}} line @param {(x: unknown, y: unknown) => boolean} has @returns {Point[]} */
export function pointsOf ({ x, y }, has) {
  return x.map((each, i) => isNumber(each) && isNumber(y[i]) && has(each, y[i]) ? { x: each, y: y[i] } : null)
}
