import { SluiceError } from '../../base/errors.js'
import { bytesOf, refuseUnreadable } from '../../sources/playback/recording.js'
import { parseCandumpLine } from './line.js'
import { lineBlocks } from './line-blocks.js'
import { LogTime } from './log-time.js'

/**
 * A log file of candump.
 *
 * @typedef {{frame: import('./line.js').Frame, ns: bigint}} LoggedFrame  `ns`: its time as of LogTime
 * @typedef {{line: number, reason: string}} BadLine  `line` counts from 1
 */

/**
 * What a log holds, block by block as it is read.
 * @param {string} path
 * @returns {AsyncGenerator<(LoggedFrame|BadLine)[], void>}
 * @throws {SluiceError} SLUICE_REPLAY_FILE, at the end SLUICE_REPLAY_EMPTY
 */
export async function * logEntries (path) {
  let lineNumber = 0
  let isEmpty = true
  /** @type {LogTime|undefined} */
  let logTime
  for await (const lines of lineBlocks(bytesOf(path, unreadable(path)))) {
    const parsed = lines.map(parseCandumpLine)
    const time = logTime ??= new LogTime(parsed.flatMap(frame => frame && 'data' in frame ? [frame.stamp] : []))
    const entries = []
    for (const frame of parsed) {
      lineNumber++
      if (frame === null) continue
      entries.push('reason' in frame ? { line: lineNumber, reason: frame.reason } : { frame, ns: time.next(frame.stamp) })
      isEmpty &&= 'reason' in frame
    }
    yield entries
  }
  if (isEmpty) throw new SluiceError('SLUICE_REPLAY_EMPTY', `${path} holds no CAN frame.`, { fix: 'Record one with candump -l.' })
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
