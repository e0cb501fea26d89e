import { isAddressed } from '../j1939/identifier.js'
import { bytesOf, frameOf, nanosecondsOf } from './frame-of.js'

/**
 * Logs of NMEA 2000 as actisense-serial and CANboat write them: "2016-02-28T19:57:02.364Z,2,127250,7,255,8,ff,10,3b,ff,7f,ce,f5,fc", with
 * priority, parameter group, source, destination, length and bytes. A line is a frame or a message that has been put together; one line
 * longer than a frame tells which, for all that follow. Times without a zone are read as UTC.
 */

const LINE = new RegExp('^(?:(\\d{4}-\\d\\d-\\d\\d)[T-](\\d\\d:\\d\\d:\\d\\d)(?:[.,](\\d{1,9}))?(Z|[-+]\\d\\d:\\d\\d)?)?' +
  ',([0-7]),(\\d{1,6}),(\\d{1,3}),(\\d{1,3}),(\\d{1,3})((?:,\\s*[0-9A-Fa-f]{1,2})*),?$')
const MAX_GROUP = 0x3FFFF
const MAX_ADDRESS = 255
const MAX_FRAME_BYTES = 8
const BUS = 'n2k'

/** @param {string} line */
export function isCanboatLine (line) {
  return LINE.test(line)
}

/** @returns {import('./log-lines.js').ParseLine} */
export function canboatParser () {
  let isOfMessages = false
  return line => {
    const match = LINE.exec(line)
    if (!match) return { reason: 'not a line of actisense-serial or canboat' }
    const [, day, time, fraction, zone, priority, group, source, destination, length, bytes] = match
    const frame = messageFrame({
      ns: day === undefined ? null : timeOf(`${day}T${time}${zone ?? 'Z'}`, fraction),
      priority: Number(priority),
      pgn: Number(group),
      source: Number(source),
      destination: Number(destination),
      data: bytesOf(bytes.split(',').slice(1).map(byte => byte.trim()), Number(length))
    })
    isOfMessages ||= 'data' in frame && frame.data.length > MAX_FRAME_BYTES
    return isOfMessages && 'data' in frame ? { ...frame, isWhole: true } : frame
  }
}

/**
 * A message of a parameter group, by the parts of its identifier.
 * @param {{ns: bigint|null, priority: number, pgn: number, source: number, destination: number,
 *   data: Uint8Array|import('./frame-of.js').BadLine}} parts
 */
export function messageFrame ({ ns, priority, pgn, source, destination, data }) {
  if (pgn > MAX_GROUP || source > MAX_ADDRESS || destination > MAX_ADDRESS) return { reason: 'not a parameter group and two addresses' }
  const group = (priority << 26 | pgn << 8 | source) >>> 0
  const id = isAddressed(group) ? (group | destination << 8) >>> 0 : group
  return frameOf({ ns, bus: BUS, id, extended: true, kind: 'data', fd: false, data })
}

/** @param {string} seconds @param {string} [fraction] @returns {bigint|null} */
function timeOf (seconds, fraction = '0') {
  const ms = Date.parse(seconds)
  return Number.isNaN(ms) ? null : BigInt(ms) * 1_000_000n + nanosecondsOf(`0.${fraction}`)
}
