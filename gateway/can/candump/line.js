/**
 * Lines as candump writes them: the log format (`candump -l`) and the screen format with any of its time stamps.
 *
 * @typedef {object} Frame
 * @property {Stamp|null} stamp  null where the line has none
 * @property {string} bus  the interface, e.g. "can0"
 * @property {number} id  11 or 29 bits, without flags
 * @property {boolean} extended  29-bit identifier
 * @property {'data'|'remote'|'error'} kind
 * @property {boolean} fd
 * @property {Uint8Array} data
 * @property {boolean} [isWhole]  a message that whoever logged it has put together, of any length
 *
 * @typedef {object} Stamp
 * @property {bigint} ns
 * @property {string} text  seconds, digit for digit as in the log
 * @property {boolean} absolute  false for `candump -t d` and `-t z`: seconds since the last frame or since the start
 *
 * @typedef {{reason: string}} BadLine
 */

const LOG_LINE = /^\((\d{1,12})\.(\d{1,9})\)\s+(\S+)\s+([0-9A-Fa-f]+)#(\S*)(?:\s+[RT])?$/
const SCREEN_LINE = /^(?:\(([^)]*)\)\s+)?(\S+)\s+(?:[TR]X\s+\S+\s+\S+\s+)?([0-9A-Fa-f]+)\s+\[(\d{1,2})\]\s*(.*)$/
const SECONDS = /^(\d{1,12})\.(\d{1,9})$/
const DATE = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.(\d{1,9})$/
const BYTES = /^((?:[0-9A-Fa-f]{2}(?:\s+|$))*)(.*)$/
/** Three times the longest line of candump. */
const MAX_LINE_CHARACTERS = 1000
const DATA_LENGTHS = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64])
const ERROR_FLAG = 0x20000000
/** Of the flags of a CAN FD frame, linux/can.h. */
const BIT_RATE_SWITCH = 1
// March 1973: smaller is time since the log began, or a clock that was never set.
const FIRST_ABSOLUTE_SECOND = 1e8
/** In 2262, nanoseconds since 1970 exceed 64 bits. */
const LAST_SECOND = 9_223_372_035
const EXTENDED_MASK = 0x1FFFFFFF

/**
 * A frame, the reason why the line is not one, or null for a blank line or a `#` comment. Never throws.
 * @param {string} line
 * @returns {Frame|BadLine|null}
 */
export function parseCandumpLine (line) {
  line = line.trim()
  if (line === '' || line[0] === '#') return null
  if (line.length > MAX_LINE_CHARACTERS) return { reason: `a line of ${line.length} characters` }
  const log = LOG_LINE.exec(line)
  if (log) return fromLog(log)
  const screen = SCREEN_LINE.exec(line)
  if (screen) return fromScreen(screen)
  return { reason: 'not a line of candump' }
}

/**
 * A frame as `candump -l` writes it, without a line end. One without a stamp gets the time 0. CAN FD frames, which do not tell here whether
 * they switched the bit rate, are written as if they did, as nearly all do.
 * @param {Frame} frame
 */
export function formatCandumpLine ({ stamp, bus, id, extended, kind, fd, data }) {
  const digits = (kind === 'error' ? id + ERROR_FLAG : id).toString(16).toUpperCase().padStart(extended || kind === 'error' ? 8 : 3, '0')
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length).toString('hex').toUpperCase()
  const content = kind === 'remote' ? 'R' : (fd ? `#${BIT_RATE_SWITCH}` : '') + bytes
  return `(${stamp?.text ?? '0000000000.000000'}) ${bus} ${digits}#${content}`
}

/** The stamp of a time since 1970. @param {bigint} ns  not negative @returns {Stamp} */
export function stampOf (ns) {
  const digits = String(ns / 1000n).padStart(16, '0')
  const text = `${digits.slice(0, -6)}.${digits.slice(-6)}${ns % 1000n === 0n ? '' : String(ns % 1000n).padStart(3, '0')}`
  return { ns, text, absolute: ns >= BigInt(FIRST_ABSOLUTE_SECOND) * 1_000_000_000n }
}

/** @param {string[]} match @returns {Frame|BadLine} */
function fromLog ([, seconds, fraction, bus, idText, content]) {
  const address = parseId(idText)
  if ('reason' in address) return address
  const stamp = secondsStamp(seconds, fraction)
  if ('reason' in stamp) return stamp
  if (address.error) return frame(stamp, bus, address, 'error', false, dataOf(content, 8))
  if (content[0] === 'R') {
    return /^R[0-9A-Fa-f]?$/.test(content) ? frame(stamp, bus, address, 'remote', false, new Uint8Array(0)) : { reason: 'bad remote frame' }
  }
  if (content[0] !== '#') return frame(stamp, bus, address, 'data', false, dataOf(withoutDlc(content), 8))
  if (!/^#[0-9A-Fa-f]/.test(content)) return { reason: 'CAN FD frame without flags' }
  return frame(stamp, bus, address, 'data', true, dataOf(content.slice(2), 64))
}

/** The data without the length code that may follow eight bytes. @param {string} content */
function withoutDlc (content) {
  return content.includes('_') ? content.replace(/_[0-9A-Fa-f]$/, '') : content
}

/** @param {string[]} match @returns {Frame|BadLine} */
function fromScreen ([, stampText, bus, idText, lengthText, content]) {
  const address = parseId(idText)
  if ('reason' in address) return address
  const stamp = stampText === undefined ? null : parseStamp(stampText)
  if (stamp && 'reason' in stamp) return stamp
  if (/^remote request/.test(content)) return frame(stamp, bus, address, 'remote', false, new Uint8Array(0))

  const [, bytes, rest] = /** @type {RegExpExecArray} */ (BYTES.exec(content))
  // The bytes may be followed by the view in ASCII (-a) or the word that marks an error frame.
  if (rest !== '' && rest[0] !== '\'' && !rest.startsWith('ERRORFRAME')) return { reason: 'bad data bytes' }
  const fd = lengthText.length === 2
  const data = dataOf(bytes.replace(/\s+/g, ''), fd ? 64 : 8)
  if (!('reason' in data) && data.length !== Number(lengthText)) {
    return { reason: `${data.length} data bytes where [${lengthText}] are announced` }
  }
  return frame(stamp, bus, address, address.error ? 'error' : 'data', fd, data)
}

/**
 * @param {Stamp|null} stamp @param {string} bus @param {{id: number, extended: boolean}} address @param {Frame['kind']} kind
 * @param {boolean} fd @param {Uint8Array|BadLine} data
 * @returns {Frame|BadLine}
 */
function frame (stamp, bus, { id, extended }, kind, fd, data) {
  if ('reason' in data) return data
  return { stamp, bus, id, extended, kind, fd, data }
}

/**
 * Three digits are an 11-bit identifier, eight a 29-bit one or an error frame.
 * @param {string} text
 * @returns {{id: number, extended: boolean, error: boolean}|BadLine}
 */
function parseId (text) {
  const id = parseInt(text, 16)
  if (text.length === 3) return id <= 0x7FF ? { id, extended: false, error: false } : { reason: `identifier ${text} exceeds 11 bits` }
  if (text.length !== 8) return { reason: `identifier ${text} has neither 3 nor 8 digits` }
  if (id <= EXTENDED_MASK) return { id, extended: true, error: false }
  return id < 2 * ERROR_FLAG ? { id: id - ERROR_FLAG, extended: true, error: true } : { reason: `identifier ${text} exceeds 29 bits` }
}

/**
 * @param {string} text  hexadecimal, perhaps with the dots cansend allows between bytes
 * @param {number} maxLength
 * @returns {Uint8Array|BadLine}
 */
function dataOf (text, maxLength) {
  const hex = text.includes('.') ? text.replaceAll('.', '') : text
  if (hex.length % 2 === 1) return { reason: 'half a data byte' }
  const length = hex.length / 2
  if (length > maxLength || !DATA_LENGTHS.has(length)) return { reason: `${length} data bytes` }
  const data = new Uint8Array(length)
  for (let i = 0; i < length; i++) {
    const high = HEX[hex.charCodeAt(2 * i) & 127]
    const low = HEX[hex.charCodeAt(2 * i + 1) & 127]
    if ((high | low) > 15) return { reason: 'data that is not hexadecimal' }
    data[i] = high << 4 | low
  }
  return data
}

/** The value of each ASCII character as a hexadecimal digit; 16 where it is not a digit. */
const HEX = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(digit) ? 16 : digit
})

/** @param {string} text @returns {Stamp|BadLine} */
function parseStamp (text) {
  const seconds = SECONDS.exec(text)
  if (seconds) return secondsStamp(seconds[1], seconds[2])
  const date = DATE.exec(text)
  if (!date) return { reason: `time stamp (${text})` }
  const [, day, time, fraction] = date
  // candump prints local time without its zone: it is read as UTC.
  const whole = Date.parse(`${day}T${time}Z`) / 1000
  return whole > 0 ? secondsStamp(String(whole), fraction) : { reason: `time stamp (${text})` }
}

/** @param {string} seconds @param {string} fraction @returns {Stamp|BadLine} */
function secondsStamp (seconds, fraction) {
  if (Number(seconds) > LAST_SECOND) return { reason: `the time ${seconds}.${fraction} is beyond 2262` }
  return {
    ns: nanoseconds(seconds, fraction),
    text: `${seconds}.${fraction}`,
    absolute: Number(seconds) >= FIRST_ABSOLUTE_SECOND
  }
}

/** A number is read faster than a bigint, and nearly all logs have microseconds. @param {string} seconds @param {string} fraction */
function nanoseconds (seconds, fraction) {
  const micros = fraction.length === 6 ? Number(seconds + fraction) : NaN
  return Number.isSafeInteger(micros) ? BigInt(micros) * 1000n : BigInt(seconds + fraction.padEnd(9, '0'))
}
