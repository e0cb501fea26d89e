import { SluiceError } from '../../base/errors.js'
import { bytesOf, refuseUnreadable } from '../../sources/playback/recording.js'
import { lineBlocks } from './line-blocks.js'
import { LOG_FORMATS, LogLines } from './log-lines.js'
import { LogTime } from './log-time.js'
import { refuseUnreadLog } from './unread.js'

/**
 * A log of a CAN bus.
 *
 * @typedef {{frame: import('../candump/line.js').Frame, ns: bigint}} LoggedFrame  `ns`: its time as of LogTime
 * @typedef {{line: number, reason: string}} BadLine  `line` counts from 1
 */

/**
 * What a log file holds, block by block as it is read.
 * @param {string} path
 * @returns {AsyncGenerator<(LoggedFrame|BadLine)[], void>}
 * @throws {SluiceError} SLUICE_REPLAY_FILE, SLUICE_CAN_LOG_FORMAT, at the end SLUICE_REPLAY_EMPTY
 */
export async function * logEntries (path) {
  let isEmpty = true
  for await (const entries of entriesOf(bytesOf(path, unreadable(path)), path)) {
    isEmpty &&= entries.every(entry => 'reason' in entry)
    yield entries
  }
  if (isEmpty) throw new SluiceError('SLUICE_REPLAY_EMPTY', `${path} holds no CAN frame.`, { fix: 'Record one with candump -l.' })
}

/**
 * The same of bytes from anywhere.
 * @param {AsyncIterable<Uint8Array>} bytes
 * @param {string} name  of the log, for errors
 * @returns {AsyncGenerator<(LoggedFrame|BadLine)[], void>}
 * @throws {SluiceError} SLUICE_CAN_LOG_FORMAT
 */
export async function * entriesOf (bytes, name) {
  const log = new LogLines()
  /** @type {LogTime|undefined} */
  let time
  let lineNumber = 0
  for await (const lines of lineBlocks(refuseUnreadLog(bytes, name, LOG_FORMATS))) {
    const parsed = lines.map(line => log.parse(line))
    time ??= new LogTime(log.countsFromStart ? [] : parsed.flatMap(frame => frame && 'data' in frame ? [frame.stamp] : []))
    const entries = []
    for (const frame of parsed) {
      lineNumber++
      if (frame === null) continue
      entries.push('reason' in frame ? { line: lineNumber, reason: frame.reason } : { frame, ns: time.next(frame.stamp) })
    }
    yield entries
  }
}

/** @param {string} path @throws {SluiceError} SLUICE_REPLAY_FILE */
export function refuseUnreadableLog (path) {
  refuseUnreadable(path, unreadable(path))
}

/** @param {string} path @returns {import('../../sources/playback/recording.js').Unreadable} */
function unreadable (path) {
  return (reason, cause) => new SluiceError('SLUICE_REPLAY_FILE', `The CAN log ${path} cannot be read: ${reason}.`, {
    cause, fix: 'Check the path and its permissions.'
  })
}
