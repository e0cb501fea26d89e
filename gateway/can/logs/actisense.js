import { messageFrame } from './canboat.js'
import { bytesOf, clockOfDays } from './frame-of.js'

/**
 * Logs of NMEA 2000 in Actisense's N2K ASCII: "A173321.107 23FF7 1F513 012F3070002F30709F", with the time of the day, source, destination
 * and priority, parameter group, and a whole message.
 */

const LINE = /^A(\d\d)(\d\d)(\d\d\.\d{3})\s+([0-9A-F]{5})\s+([0-9A-F]{1,5})\s+((?:[0-9A-F]{2})*)$/i
const MAX_BYTES = 1785

/** @param {string} line */
export function isActisenseLine (line) {
  return LINE.test(line)
}

/** @returns {import('./log-lines.js').ParseLine} */
export function actisenseParser () {
  const sinceFirstDay = clockOfDays()
  return line => {
    const match = LINE.exec(line)
    if (!match) return { reason: 'not a line of Actisense N2K ASCII' }
    const [, hour, minute, second, addresses, group, hex] = match
    const [address, bytes] = [parseInt(addresses, 16), hex.match(/../g) ?? []]
    const frame = messageFrame({
      ns: sinceFirstDay(hour, minute, second),
      priority: address & 7,
      pgn: parseInt(group, 16),
      source: address >>> 12,
      destination: address >>> 4 & 0xFF,
      data: bytesOf(bytes, Math.min(bytes.length, MAX_BYTES))
    })
    return 'data' in frame ? { ...frame, isWhole: true } : frame
  }
}
