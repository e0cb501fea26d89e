import { bytesOf, errorFrame, frameOf, lengthOfCode, nanosecondsOf } from './frame-of.js'

/**
 * Logs of Vector's CANoe and CANalyzer in ASCII (.asc). Channel 1 is the bus can1. The date in the header, which has no zone, is read as
 * UTC; where there is none, or in a language other than English or German, times count from the start.
 *
 * @typedef {import('./frame-of.js').Frame} Frame
 * @typedef {import('./frame-of.js').BadLine} BadLine
 */

const HEADER = /^(?:date|base)\s/i
/** Lines without a time that need not be read. */
const OTHER = /^(?:\/\/|(?:no\s+)?internal\s+events|(?:begin|end)\s+triggerblock)/i
const BASE = /^base\s+(hex|dec)(?:\s+timestamps\s+(absolute|relative))?/i
/** Month, day, time, half of the day, year. */
const DATE = /^(?:date|begin\s+triggerblock)\s+\S+\s+(\S{3})\S*\s+(\d\d?)\s+(\d\d?):(\d\d):(\d\d(?:\.\d{1,9})?)(?:\s+([ap])m)?\s+(\d{4})$/i
const MONTHS = ['jan', 'feb', 'mar|mär', 'apr', 'may|mai', 'jun', 'jul', 'aug', 'sep', 'oct|okt', 'nov', 'dec|dez']
const EVENT = /^(\d{1,12}\.\d{1,9})\s+(.*)$/
const ERROR = /^(?:CANFD\s+)?(\d+)\s+(?:(?:Rx|Tx)\s+)?ErrorFrame/i
const CLASSIC = /^(\d+)\s+([0-9A-Fa-f]+)(x?)\s+(?:Rx|Tx)\s+([dr])\b\s*([0-9A-Fa-f]+)?(.*)$/i
/** The identifier, perhaps a name, bit rate switch, error state, length code, bytes. */
const FD = /^CANFD\s+(\d+)\s+(?:Rx|Tx)\s+([0-9A-Fa-f]+)(x?)\s+(?:(?![01]\s)\S+\s+)?[01]\s+[01]\s+([0-9A-Fa-f])\s+(\d{1,2})(.*)$/i
/** Of the flags behind the data. */
const IS_REMOTE = 0x10
const IS_FD = 0x1000

/** @param {string} line */
export function isAscLine (line) {
  return HEADER.test(line) || OTHER.test(line)
}

/** @returns {import('./log-lines.js').ParseLine} */
export function ascParser () {
  let base = 16
  let isRelative = false
  let startNs = 0n
  let lastNs = 0n
  return line => {
    const event = EVENT.exec(line)
    if (event) {
      // To the event before, whatever that is.
      lastNs = nanosecondsOf(event[1]) + (isRelative ? lastNs : 0n)
      return frameOfEvent(event[2], startNs + lastNs, base)
    }
    const header = BASE.exec(line)
    if (header) {
      base = header[1].toLowerCase() === 'dec' ? 10 : 16
      isRelative = header[2]?.toLowerCase() === 'relative'
    }
    if (startNs === 0n) startNs = dateOf(line)
    return isAscLine(line) ? null : { reason: 'not a line of Vector ASC' }
  }
}

/** 0 where there is none. @param {string} line */
function dateOf (line) {
  const match = DATE.exec(line)
  const month = match ? MONTHS.findIndex(names => names.split('|').includes(match[1].toLowerCase())) : -1
  if (!match || month === -1) return 0n
  const [, , day, hour, minute, second, half, year] = match
  const hours = half && Number(hour) <= 12 ? Number(hour) % 12 + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour)
  return BigInt(Date.UTC(Number(year), month, Number(day), hours, Number(minute))) * 1_000_000n + nanosecondsOf(second)
}

/** @param {string} text @param {bigint} ns @param {number} base @returns {Frame|BadLine|null} */
function frameOfEvent (text, ns, base) {
  const error = ERROR.exec(text)
  if (error) return errorFrame(`can${error[1]}`, ns)
  const classic = CLASSIC.exec(text)
  if (classic) return fromClassic(classic, ns, base)
  const fd = FD.exec(text)
  if (fd) return fromFd(fd, ns, base)
  return /^CANFD\s|^\d+\s+[0-9A-Fa-f]+x?\s+(?:Rx|Tx)\s/i.test(text) ? { reason: 'not a frame of Vector ASC' } : null
}

/** @param {string[]} match @param {bigint} ns @param {number} base */
function fromClassic ([, channel, id, x, kind, code = '0', rest], ns, base) {
  const isRemote = kind.toLowerCase() === 'r'
  const length = isRemote ? 0 : Math.min(parseInt(code, base), 8)
  return frameOf({
    ns,
    bus: `can${channel}`,
    id: parseInt(id, base),
    extended: x !== '',
    kind: isRemote ? 'remote' : 'data',
    fd: false,
    data: bytesOf(wordsOf(rest), length, base)
  })
}

/** @param {string[]} match @param {bigint} ns @param {number} base */
function fromFd ([, channel, id, x, code, lengthText, rest], ns, base) {
  const length = Number(lengthText)
  const words = wordsOf(rest)
  const [, , flagsText] = words.slice(length)
  const flags = parseInt(flagsText, 16)
  const isRemote = Number.isNaN(flags) ? length === 0 && lengthOfCode(parseInt(code, 16)) > 0 : (flags & IS_REMOTE) !== 0
  return frameOf({
    ns,
    bus: `can${channel}`,
    id: parseInt(id, base),
    extended: x !== '',
    kind: isRemote ? 'remote' : 'data',
    fd: !isRemote && (length > 8 || Number.isNaN(flags) || (flags & IS_FD) !== 0),
    data: length > 64 ? { reason: `${length} data bytes` } : bytesOf(words, isRemote ? 0 : length, base)
  })
}

/** @param {string} text */
function wordsOf (text) {
  return text.split(/\s+/).filter(word => word !== '')
}
