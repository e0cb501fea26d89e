import { parseTime } from '../batch/time.js'

/**
 * @typedef {import('../batch/time.js').TimeUnit} TimeUnit
 */

/**
 * The units of msg.precision, as InfluxDB's two clients name them: the unit for `parseTime`, and how many of it.
 * @type {Map<string, [TimeUnit, number]>}
 */
const UNITS = new Map([
  ['n', ['ns', 1]], ['ns', ['ns', 1]], ['u', ['us', 1]], ['us', ['us', 1]],
  ['ms', ['ms', 1]], ['s', ['s', 1]], ['m', ['s', 60]], ['h', ['s', 3600]]
])

/**
 * The time of a point whose message gives the unit of its numbers.
 * @param {unknown} time  as `parseTime` takes it
 * @param {string} precision  'ns' or 'n', 'us' or 'u', 'ms', 's', 'm', 'h'
 * @returns {bigint} nanoseconds since 1970 UTC
 * @throws {import('../base/errors.js').SluiceError} as `parseTime` does
 */
export function timeIn (time, precision) {
  const [unit, count] = UNITS.get(precision) ?? [/** @type {TimeUnit} */ (precision), 1]
  const isNumber = typeof time === 'number' || (typeof time === 'string' && /^\d+$/.test(time))
  return parseTime(isNumber && count > 1 ? Number(time) * count : time, unit)
}
