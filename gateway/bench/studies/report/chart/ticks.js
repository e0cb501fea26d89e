/** Of times, in seconds, up to a week. */
const TIME_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800
]

/** A step of 1, 2 or 5 times a power of ten, so that there are about so many. @param {number} span @param {number} count */
export function niceStep (span, count) {
  const rough = span / count
  const decade = 10 ** Math.floor(Math.log10(rough))
  const factor = [1, 2, 5, 10].find(each => each * decade >= rough * (1 - 1e-9)) ?? 10
  return factor * decade
}

/** Of a time axis. @param {number} span  in seconds @param {number} count */
export function timeStep (span, count) {
  if (span < count) return niceStep(span, count)
  return TIME_STEPS.find(step => step >= span / count) ?? niceStep(span, count)
}

/** The multiples of a step from `min` to `max`. @param {number} min @param {number} max @param {number} step */
export function multiples (min, max, step) {
  const first = Math.ceil(min / step - 1e-9)
  const last = Math.floor(max / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)) + 0)
}

/**
 * Of a logarithmic axis: powers of ten, not more than `count` of them, or 1, 2 and 5 times these where they are less than three.
 * @param {number} min  above 0
 * @param {number} max
 * @param {number} count
 * @returns {{major: number[], minor: number[]}}  with text and without
 */
export function logTicks (min, max, count) {
  const within = (/** @type {number} */ value) => value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9)
  const exponents = multiples(Math.floor(Math.log10(min)), Math.ceil(Math.log10(max)), 1)
  const times = (/** @type {number[]} */ factors) => exponents.flatMap(exponent => factors.map(factor => scaled(factor, exponent)))
    .filter(within)
  const decades = times([1])
  const parts = times([2, 3, 4, 5, 6, 7, 8, 9])
  if (decades.length < 3) {
    const major = times([1, 2, 5])
    return { major, minor: parts.filter(value => !major.includes(value)) }
  }
  const stride = Math.ceil(decades.length / count)
  const major = decades.filter((_, i) => i % stride === 0)
  return { major, minor: stride > 1 ? decades.filter(value => !major.includes(value)) : decades.length <= 5 ? parts : [] }
}

/** Exact for what has an exact text: 3e-6, not 0.0000029999. @param {number} factor @param {number} exponent */
export function scaled (factor, exponent) {
  return Number(`${factor}e${exponent}`)
}
