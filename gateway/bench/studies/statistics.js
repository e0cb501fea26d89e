/**
 * The value below which a share of all lies, between two by their distance.
 * @param {ArrayLike<number>} sorted  ascending, not empty @param {number} share  0 … 1
 */
export function quantile (sorted, share) {
  const at = share * (sorted.length - 1)
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at - Math.floor(at))
}

/**
 * What papers print of many values; null where there are none. `deviation` is that of the sample (n - 1), 0 for a single value.
 * @param {readonly number[]} values
 */
export function summary (values) {
  if (values.length === 0) return null
  const sorted = Float64Array.from(values).sort()
  const mean = meanOf(values)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return {
    count: values.length,
    min: sorted[0],
    mean,
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    max: sorted[sorted.length - 1],
    deviation: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0
  }
}

/**
 * A box plot's figures; null where there are no values.
 * @param {readonly number[]} values
 * @returns {import('./study.js').Box|null}
 */
export function box (values) {
  if (values.length === 0) return null
  const sorted = Float64Array.from(values).sort()
  const [min, lower, median, upper, max] = [0, 0.25, 0.5, 0.75, 1].map(share => quantile(sorted, share))
  return { min, lower, median, upper, max, mean: meanOf(values), count: values.length }
}

/** @param {readonly number[]} values */
function meanOf (values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
