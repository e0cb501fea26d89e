import { stampOf } from '../candump/line.js'

/**
 * What lines of logs have in common besides candump's.
 *
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {import('../candump/line.js').BadLine} BadLine
 */

/** CAN FD's length codes beyond 8. */
const FD_LENGTHS = [12, 16, 20, 24, 32, 48, 64]
/** A protocol violation, linux/can/error.h. */
const BUS_ERROR = 0x88
const MAX_TIME_NS = 2n ** 63n - 1n
const DAY_NS = 86_400_000_000_000n

/** Data bytes by their length code. @param {number} code */
export function lengthOfCode (code) {
  return FD_LENGTHS[code - 9] ?? code
}

/**
 * Nanoseconds of a decimal number of seconds, or by another scale, digit for digit.
 * @param {string} text  e.g. "12.5"
 * @param {number} [digits]  of the unit below a point: 9 for seconds, 6 for milliseconds
 */
export function nanosecondsOf (text, digits = 9) {
  const [whole, fraction = ''] = text.split('.')
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'))
}

/**
 * The time in a log that has but the time of the day, since the first day began: midnight is past where it falls by more than half a day.
 * @returns {(hour: string, minute: string, second: string) => bigint}
 */
export function clockOfDays () {
  let lastNs = 0n
  let midnightNs = 0n
  return (hour, minute, second) => {
    const ns = BigInt(Number(hour) * 3600 + Number(minute) * 60) * 1_000_000_000n + nanosecondsOf(second)
    if (lastNs - ns > DAY_NS / 2n) midnightNs += DAY_NS
    lastNs = ns
    return midnightNs + ns
  }
}

/**
 * @param {string[]} texts  one a byte
 * @param {number} length
 * @param {number} [base]
 * @returns {Uint8Array|BadLine}
 */
export function bytesOf (texts, length, base = 16) {
  const data = Uint8Array.from({ length: Math.min(texts.length, length) }, (_, i) => parseInt(texts[i], base))
  const areBytes = base === 16 ? /^[0-9A-Fa-f]{1,2}$/ : /^\d{1,3}$/
  const count = texts.findIndex(text => !(areBytes.test(text) && parseInt(text, base) <= 255))
  if (texts.length >= length && (count === -1 || count >= length)) return data
  return { reason: `${count === -1 ? texts.length : Math.min(count, length)} data bytes where ${length} are announced` }
}

/**
 * A frame of a line, unless its identifier, data or time cannot be.
 * @param {Omit<Frame, 'stamp'|'data'> & {ns: bigint|null, data: Uint8Array|BadLine}} parts  `ns`: null where the line has no time
 * @returns {Frame|BadLine}
 */
export function frameOf ({ ns, data, ...frame }) {
  if ('reason' in data) return data
  if (!(frame.id <= (frame.extended ? 0x1FFFFFFF : 0x7FF))) return { reason: `an identifier beyond ${frame.extended ? 29 : 11} bits` }
  if (ns !== null && (ns < 0n || ns > MAX_TIME_NS)) return { reason: 'a time before 1970 or beyond 2262' }
  return { ...frame, stamp: ns === null ? null : stampOf(ns), data }
}

/** A frame that says, as SocketCAN would, that something went wrong on the bus. @param {string} bus @param {bigint} ns */
export function errorFrame (bus, ns) {
  return frameOf({ bus, ns, id: BUS_ERROR, extended: true, kind: 'error', fd: false, data: new Uint8Array(8) })
}
