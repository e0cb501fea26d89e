import { bytesOf, clockOfDays, frameOf } from './frame-of.js'

/**
 * Logs of NMEA 2000 as the gateways of Yacht Devices (YDWG-02, YDEN-02, YDNU-02) write them in RAW mode:
 * "17:33:21.107 R 19F51323 01 2F 30 70 00 2F 30 70", with the time of the day (or since the gateway was started), R of what was received
 * and T of what was sent, identifier and bytes of a frame.
 */

const LINE = /^(\d\d):(\d\d):(\d\d\.\d{3})\s+[RT]\s+([0-9A-F]{8})((?:\s+[0-9A-F]{2})*)$/i
const MAX_FRAME_BYTES = 8

/** @param {string} line */
export function isYachtDevicesLine (line) {
  return LINE.test(line)
}

/** @returns {import('./log-lines.js').ParseLine} */
export function yachtDevicesParser () {
  const sinceFirstDay = clockOfDays()
  return line => {
    const match = LINE.exec(line)
    if (!match) return { reason: 'not a line of Yacht Devices RAW' }
    const [, hour, minute, second, id, hex] = match
    const bytes = hex.match(/\S+/g) ?? []
    return frameOf({
      ns: sinceFirstDay(hour, minute, second),
      bus: 'n2k',
      id: parseInt(id, 16),
      extended: true,
      kind: 'data',
      fd: false,
      data: bytes.length > MAX_FRAME_BYTES ? { reason: `${bytes.length} data bytes` } : bytesOf(bytes, bytes.length)
    })
  }
}
