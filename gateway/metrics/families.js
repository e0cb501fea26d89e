import { KINDS } from './kinds.js'
import { subjectsOf } from './subjects.js'

/**
 * A metric with all that is read of it.
 *
 * @typedef {import('./kinds.js').Distribution} Distribution
 * @typedef {object} Family
 * @property {string} name
 * @property {import('./kinds.js').Type} type
 * @property {string} unit
 * @property {string} help
 * @property {{labels: Record<string, string>, value: number|Distribution}[]} samples  a distribution where it is a histogram
 */

/**
 * @param {import('../stats/stats.js').Stats} stats
 * @param {Parameters<typeof subjectsOf>[1]} about
 * @returns {Family[]}  without those of which there is nothing
 */
export function familiesOf (stats, about) {
  const subjects = subjectsOf(stats, about)
  /** @type {[keyof typeof KINDS, import('./kinds.js').Kind<any>][]} */
  const kinds = /** @type {any} */ (Object.entries(KINDS))
  return kinds.flatMap(([kind, { metrics }]) => metrics.map(([name, type, unit, help, read]) => {
    const samples = subjects[kind].flatMap(({ labels, of }) => {
      const value = valueOf(typeof read === 'string' ? of[read] : read(of))
      return value === null ? [] : [{ labels, value }]
    })
    return { name, type, unit, help, samples }
  })).filter(({ samples }) => samples.length > 0)
}

/** Null for what is no number, which is left out. @param {import('./kinds.js').Value} value */
function valueOf (value) {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'object' ? value : null
}
