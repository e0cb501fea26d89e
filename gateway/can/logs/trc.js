import { bytesOf, errorFrame, frameOf, lengthOfCode, nanosecondsOf } from './frame-of.js'

/**
 * Traces of PEAK's PCAN-View and PCAN-Explorer (.trc), of the versions 1.0 to 2.1. Bus 1 is the bus can1. The start, which has no zone, is
 * read as UTC.
 *
 * @typedef {import('./frame-of.js').Frame} Frame
 * @typedef {import('./frame-of.js').BadLine} BadLine
 */

/**
 * The columns by version, as files of version 2 name them: N number, O offset in milliseconds, T type, B bus, I identifier, d direction,
 * R reserved, l length, L length code, D data.
 */
const COLUMNS = new Map([
  ['1.0', 'NOIlD'], ['1.1', 'NOTIlD'], ['1.2', 'NOBTIlD'], ['1.3', 'NOBTIRLD'], ['2.0', 'NOTIdlD'], ['2.1', 'NOTBIdRLD']
])
/** Its files do not name their version. */
const OLDEST = 'NOIlD'
const SETTING = /^;\$(\w+)\s*=\s*(\S*)/
/** In the header of version 1.0, among its comments. */
const START_TIME = /^;\s*Start time:\s*(\d\d)\.(\d\d)\.(\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,3}))?/
const DAYS = /^(\d{5,6})(?:\.(\d{1,15}))?$/
/** From 30 December 1899 to 1970. */
const EPOCH_DAYS = 25_569n
const US_PER_DAY = 86_400_000_000n
const FRAME_TYPES = new Set(['Rx', 'Tx', 'DT', 'FD', 'FB', 'FE', 'BI', 'RR', 'ER', 'Error'])
const FD_TYPES = new Set(['FD', 'FB', 'FE', 'BI'])
/** In place of the identifier of what is no frame, such as a change of the bus. */
const NO_ID = 'FFFFFFFF'

/** @param {string} line */
export function isTrcLine (line) {
  return line[0] === ';'
}

/** @returns {import('./log-lines.js').ParseLine} */
export function trcParser () {
  let columns = OLDEST
  let startNs = 0n
  return line => {
    if (line[0] !== ';') return fromLine(line.split(/\s+/), columns, startNs)
    const [, name, value] = SETTING.exec(line) ?? []
    if (name === 'FILEVERSION') columns = COLUMNS.get(value) ?? columns
    if (name === 'COLUMNS' && /^(?:[A-Za-z],)*D$/.test(value)) columns = value.replaceAll(',', '')
    if (name === 'STARTTIME') startNs = ofDays(value)
    if (startNs === 0n) startNs = ofDate(line)
    return null
  }
}

/** @param {string[]} words @param {string} columns @param {bigint} startNs @returns {Frame|BadLine|null} */
function fromLine (words, columns, startNs) {
  const word = (/** @type {string} */ column) => words[columns.indexOf(column)] ?? ''
  const [type, id, offset, number] = [word('T'), word('I'), word('O'), word('N')]
  if (!/^\d+\)?$/.test(number) || !/^\d{1,15}(?:\.\d{1,6})?$/.test(offset)) return { reason: 'not a line of PCAN TRC' }
  if (columns.includes('T') ? !FRAME_TYPES.has(type) : id === NO_ID) return null
  const ns = startNs + nanosecondsOf(offset, 6)
  const bus = `can${columns.includes('B') ? word('B') : 1}`
  const data = words.slice(columns.length - 1)
  if (type === 'ER' || type === 'Error' || data[0] === 'ERROR') return errorFrame(bus, ns)
  if (!/^(?:[0-9A-F]{4}|[0-9A-F]{8})$/i.test(id)) return { reason: `identifier ${id} has neither 4 nor 8 digits` }
  const isRemote = type === 'RR' || data[0] === 'RTR'
  const length = columns.includes('L') ? lengthOfCode(Number(word('L'))) : Number(word('l'))
  if (!(length <= (FD_TYPES.has(type) ? 64 : 8))) return { reason: `${length} data bytes` }
  return frameOf({
    ns,
    bus,
    id: parseInt(id, 16),
    extended: id.length === 8,
    kind: isRemote ? 'remote' : 'data',
    fd: FD_TYPES.has(type),
    data: bytesOf(data, isRemote ? 0 : length)
  })
}

/** To the microsecond, as the days have ten decimals at most; 0 where it is no number of days. @param {string} text */
function ofDays (text) {
  const [, days, fraction = '0'] = DAYS.exec(text) ?? []
  if (days === undefined) return 0n
  const partUs = BigInt(fraction) * US_PER_DAY / 10n ** BigInt(fraction.length)
  return ((BigInt(days) - EPOCH_DAYS) * US_PER_DAY + partUs) * 1000n
}

/** 0 where there is none. @param {string} line */
function ofDate (line) {
  const [match, day, month, year, hour, minute, second, millisecond = '0'] = START_TIME.exec(line) ?? []
  if (match === undefined) return 0n
  const [y, m, d, ...time] = [year, month, day, hour, minute, second, millisecond.padEnd(3, '0')].map(Number)
  return BigInt(Date.UTC(y, m - 1, d, ...time)) * 1_000_000n
}
