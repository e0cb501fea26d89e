import { types } from 'node:util'
import { SluiceError } from '../base/errors.js'

/**
 * Sample times: nanoseconds since 1970 UTC as BigInt, read and written without passing through a JS number or a Date,
 * which would round them.
 *
 * @typedef {'s'|'ms'|'us'|'ns'} TimeUnit
 */

/** Nanoseconds in each unit a plain number or a string of digits may be given in. */
export const NANOSECONDS_PER = Object.freeze({ s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n })

export const DAY_NS = 86_400_000_000_000n

const SECOND_NS = NANOSECONDS_PER.s
const MAX_TIME_NS = 2n ** 63n - 1n
const YEAR_1971_NS = 31_536_000n * SECOND_NS

const DIGITS = /^(\d{1,20})(?:\.(\d{1,20}))?$/
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|([+-])([01]\d|2[0-3]):?([0-5]\d)?)$/i

/**
 * The time of a sample, exactly.
 *
 * Accepted are a BigInt (always nanoseconds), a Date, an ISO 8601 string with a zone and up to nine decimals, and a number or a string of
 * digits in `unit`, with decimals ("1436509052.249713" in s). A number is read in its shortest decimal form; what is finer than a
 * nanosecond is dropped.
 *
 * A time must be after 1970-01-01T00:00:00Z and before 2262-04-11. A bare number in the year 1970 is refused too: it is a time in another
 * unit.
 * @param {unknown} value
 * @param {TimeUnit} [unit]  of numbers and strings of digits; default ms, as in Node-RED's msg.timestamp
 * @returns {bigint} nanoseconds since 1970 UTC
 * @throws {SluiceError} SLUICE_TIME_UNIT, SLUICE_TIME_FORMAT (not a time), SLUICE_TIME_PRECISION (a number too large to be exact),
 *   SLUICE_TIME_RANGE
 */
export function parseTime (value, unit = 'ms') {
  if (!Object.hasOwn(NANOSECONDS_PER, unit)) {
    throw new SluiceError('SLUICE_TIME_UNIT', `"${unit}" is not a time unit.`, { fix: 'Use s, ms, us or ns.' })
  }
  if (typeof value === 'bigint') return inRange(value, value)
  if (typeof value === 'number') return notIn1970(fromNumber(value, unit), value, unit)
  if (types.isDate(value)) return inRange(fromDate(value), value)
  if (typeof value !== 'string') throw notATime(value)

  const digits = DIGITS.exec(value)
  if (digits) return notIn1970(fromDigits(digits, unit, value), value, unit)
  const iso = ISO.exec(value)
  if (iso) return inRange(fromIso(iso, value), value)
  throw notATime(value)
}

/**
 * ISO 8601 in UTC with nine decimals: "2015-07-10T06:17:32.249713000Z".
 * @param {bigint} ns  nanoseconds since 1970 UTC, any int64
 */
export function formatTime (ns) {
  const fraction = ((ns % SECOND_NS) + SECOND_NS) % SECOND_NS
  const seconds = new Date(Number((ns - fraction) / NANOSECONDS_PER.ms)).toISOString().slice(0, 19)
  return `${seconds}.${nineDigits(fraction)}Z`
}

/**
 * Seconds since 1970 UTC with nine decimals: "1436509052.249713000".
 * @param {bigint} ns  nanoseconds since 1970 UTC
 */
export function secondsText (ns) {
  const size = ns < 0n ? -ns : ns
  return `${ns < 0n ? '-' : ''}${size / SECOND_NS}.${nineDigits(size % SECOND_NS)}`
}

/** @param {number} value @param {TimeUnit} unit */
function fromNumber (value, unit) {
  if (Number.isSafeInteger(value)) return BigInt(value) * NANOSECONDS_PER[unit]
  if (!Number.isFinite(value)) throw notATime(value)
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw new SluiceError('SLUICE_TIME_PRECISION', `The time ${value} ${unit} is beyond 2^53, where a number is no longer exact.`, {
      fix: 'Give it as BigInt or as a string.'
    })
  }
  const digits = DIGITS.exec(String(value))
  if (!digits) throw outOfRange(value)
  const [, whole, fraction = ''] = digits
  return scaled(whole, fraction.slice(0, decimals(unit)), unit)
}

/** @param {RegExpExecArray} digits @param {TimeUnit} unit @param {string} text */
function fromDigits ([, whole, fraction = ''], unit, text) {
  const significant = fraction.replace(/0+$/, '')
  if (significant.length > decimals(unit)) {
    throw new SluiceError('SLUICE_TIME_PRECISION', `The time "${text}" ${unit} is finer than a nanosecond.`, {
      fix: `Give at most ${decimals(unit)} decimals.`
    })
  }
  return scaled(whole, significant, unit)
}

/** @param {Date} date */
function fromDate (date) {
  if (Number.isNaN(date.getTime())) throw notATime(date)
  return BigInt(date.getTime()) * NANOSECONDS_PER.ms
}

/** @param {RegExpExecArray} iso @param {string} text */
function fromIso ([, day, clock, fraction = '', , sign, hours, minutes = '0'], text) {
  const utc = new Date(`${day}T${clock}Z`)
  // Date turns 30 February into 1 March: a time that does not come back as it was given does not exist.
  if (Number.isNaN(utc.getTime()) || !utc.toISOString().startsWith(`${day}T${clock}`)) throw notATime(text)
  const offset = sign ? BigInt(`${sign}1`) * BigInt(Number(hours) * 3600 + Number(minutes) * 60) : 0n
  return (BigInt(utc.getTime() / 1000) - offset) * SECOND_NS + BigInt(fraction.padEnd(9, '0'))
}

/** @param {string} whole @param {string} fraction  no longer than the unit's decimals @param {TimeUnit} unit */
function scaled (whole, fraction, unit) {
  return BigInt(whole + fraction.padEnd(decimals(unit), '0'))
}

/** How many decimals of the unit a nanosecond has. @param {TimeUnit} unit */
function decimals (unit) {
  return { s: 9, ms: 6, us: 3, ns: 0 }[unit]
}

/** @param {bigint} ns @param {unknown} value */
function inRange (ns, value) {
  if (ns <= 0n || ns > MAX_TIME_NS) throw outOfRange(value)
  return ns
}

/** @param {bigint} ns @param {unknown} value @param {TimeUnit} unit */
function notIn1970 (ns, value, unit) {
  inRange(ns, value)
  if (ns < YEAR_1971_NS) {
    throw new SluiceError('SLUICE_TIME_RANGE', `The time ${show(value)} ${unit} would be ${formatTime(ns)}.`, {
      fix: 'Set the unit that the time is given in, or check the clock it comes from.'
    })
  }
  return ns
}

/** @param {unknown} value */
function outOfRange (value) {
  return new SluiceError('SLUICE_TIME_RANGE', `The time ${show(value)} is not between 1970 and 2262.`, {
    fix: 'Check its unit, and the clock it comes from.'
  })
}

/** @param {unknown} value */
function notATime (value) {
  return new SluiceError('SLUICE_TIME_FORMAT', `${show(value)} is not a time.`, {
    fix: 'Use a number, a BigInt of nanoseconds, a Date, or an ISO 8601 string with a zone and at most nine decimals such as ' +
      '"2015-07-10T06:17:32.249713Z".'
  })
}

/** @param {unknown} value */
function show (value) {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value).slice(8, -1) : String(value)
}

/** @param {bigint} fraction */
function nineDigits (fraction) {
  return fraction.toString().padStart(9, '0')
}
