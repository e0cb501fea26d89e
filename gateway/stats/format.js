// Loaded by the live page as well as by Node: uses nothing specific to either.

const PREFIXES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]

/** Three digits and a prefix: 12345 → "12.3 k", 7 → "7". @param {number} value */
export function quantity (value) {
  const [number, prefix] = scaled(value)
  return prefix ? `${number} ${prefix}` : number
}

/** The same with a unit that takes the prefix: "12.3 kB", "7 B". @param {number} value @param {string} unit */
export function measure (value, unit) {
  return scaled(value).join(' ') + unit
}

/** Milliseconds in the most readable unit: "350 µs", "8.25 ms", "12.3 s", "5.0 min". @param {number} milliseconds */
export function duration (milliseconds) {
  if (milliseconds === 0) return '0 ms'
  if (milliseconds < 0.9995) return `${digits(milliseconds * 1000)} µs`
  if (milliseconds < 999.5) return `${digits(milliseconds)} ms`
  if (milliseconds < 120_000) return `${digits(milliseconds / 1000)} s`
  return `${digits(milliseconds / 60_000)} min`
}

/** What a user has to wait, about: "45 s", "12 min", "3.5 h", "11 days". @param {number} seconds */
export function remaining (seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return seconds < 48 * 3600 ? `${(seconds / 3600).toFixed(1)} h` : `${Math.round(seconds / 86_400)} days`
}

/** @param {number} value @returns {[string, string]} number and prefix */
function scaled (value) {
  for (const [size, prefix] of /** @type {[number, string][]} */ (PREFIXES)) {
    if (Math.abs(value) >= size * 0.9995) return [digits(value / size), prefix]
  }
  return [Number.isInteger(value) ? String(value) : digits(value), '']
}

/** @param {number} value */
function digits (value) {
  const size = Math.abs(value)
  if (size >= 99.95) return value.toFixed(0)
  return value.toFixed(size >= 9.995 ? 1 : 2)
}
