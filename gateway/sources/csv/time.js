import { NANOSECONDS_PER, parseTime } from '../../batch/time.js'
import { SluiceError } from '../../base/errors.js'
import { isoDate } from './local-dates.js'

/**
 * The times of a CSV file.
 *
 * @typedef {'date'|import('./local-dates.js').DateOrder|'s'|'ms'|'us'|'ns'|'relative'} TimeFormat
 */

const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:[.,]\d{1,9})?)?)? ?(Z|[+-]\d\d:?(?:\d\d)?)?$/i
const SECONDS = /^(\d{1,10})(?:\.(\d{1,9}))?$/
const DAY_MS = 86_400_000
const MAX_OFFSETS = 10_000

/**
 * The size from which on a bare number is a time in a unit; smaller ones are seconds since a start. 1e8 s is 1973, 1e11 s would be 5138.
 * @type {[number, TimeFormat][]}
 */
const SIZES = [[1e17, 'ns'], [1e14, 'us'], [1e11, 'ms'], [1e8, 's']]

/** The format of a time, from the text of one. @param {string} text @returns {TimeFormat} */
export function formatOf (text) {
  const size = Number(text.replace(',', '.'))
  if (Number.isNaN(size)) return 'date'
  return SIZES.find(([least]) => size >= least)?.[1] ?? 'relative'
}

/**
 * What reads the times of a format: nanoseconds since 1970, of 'relative' since the start.
 * @param {TimeFormat} format  'date' and the orders of dates: ISO 8601, or a local date; without a zone, the time on the clocks of `zone`
 * @param {{zone: string, decimal: string}} options
 * @returns {(text: string) => bigint|undefined} undefined: it is not a time
 * @throws {SluiceError} SLUICE_OPTIONS for what is not a time zone
 */
export function timeReader (format, { zone, decimal }) {
  const offset = zoneOffset(zone)
  const plain = (/** @type {string} */ text) => decimal === ',' ? text.replace(',', '.') : text
  if (format === 'date') return text => dateNs(isoDate(text), offset)
  if (format === 'day-first' || format === 'month-first') return text => dateNs(isoDate(text, format), offset)
  if (format === 'relative') return text => secondsNs(plain(text))
  return text => ifTime(() => parseTime(plain(text), format))
}

/** @param {string|undefined} text @param {(wallMs: number) => number} offset */
function dateNs (text, offset) {
  const parts = DATE.exec(text ?? '')
  if (!parts) return undefined
  const [, day, clock = '00:00', seconds = ':00', zone] = parts
  const ns = ifTime(() => parseTime(`${day}T${clock}${seconds}${zone ?? 'Z'}`))
  if (zone || ns === undefined) return ns
  return ifTime(() => parseTime(ns - BigInt(offset(Number(ns / NANOSECONDS_PER.ms))) * NANOSECONDS_PER.ms))
}

/** @param {string} text */
function secondsNs (text) {
  const parts = SECONDS.exec(text)
  return parts ? BigInt(parts[1] + (parts[2] ?? '').padEnd(9, '0')) : undefined
}

/** @param {() => bigint} parsed */
function ifTime (parsed) {
  try {
    return parsed()
  } catch (error) {
    if (error instanceof SluiceError) return undefined
    throw error
  }
}

/**
 * How far the clocks of a zone are ahead of UTC when they show a time. For an hour that they show twice it is the first; for one that they
 * skip, the offset before.
 * @param {string} zone  of the IANA: "Europe/Berlin"
 * @returns {(wallMs: number) => number} milliseconds
 */
function zoneOffset (zone) {
  const offsetAt = zoneClock(zone)
  /** by quarter of an hour, as no clock changes in between @type {Map<number, number>} */
  const known = new Map()
  return wallMs => {
    const quarter = Math.floor(wallMs / 900_000)
    const found = known.get(quarter)
    if (found !== undefined) return found
    const [before, after] = [offsetAt(wallMs - DAY_MS), offsetAt(wallMs + DAY_MS)]
    const offset = offsetAt(wallMs - before) !== before && offsetAt(wallMs - after) === after ? after : before
    if (known.size === MAX_OFFSETS) known.clear()
    known.set(quarter, offset)
    return offset
  }
}

/** @param {string} zone @returns {(utcMs: number) => number} the offset at a moment */
function zoneClock (zone) {
  let format
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric'
    })
  } catch (cause) {
    throw new SluiceError('SLUICE_OPTIONS', `"${zone}" is not a time zone.`, { cause, fix: 'Give one such as Europe/Berlin, or UTC.' })
  }
  return utcMs => {
    const parts = format.formatToParts(utcMs).map(({ type, value }) => [type, Number(value)])
    const { year, month, day, hour, minute, second } = Object.fromEntries(parts)
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(utcMs / 1000) * 1000
  }
}
