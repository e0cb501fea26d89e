import { parseCandumpLine } from '../candump/line.js'
import { actisenseParser, isActisenseLine } from './actisense.js'
import { ascParser, isAscLine } from './asc.js'
import { canboatParser, isCanboatLine } from './canboat.js'
import { isTrcLine, trcParser } from './trc.js'
import { whyUnread } from './unread.js'
import { isYachtDevicesLine, yachtDevicesParser } from './yacht-devices.js'

/**
 * The lines of a log in any format of text that is read; its first line that is neither blank nor a `#` comment tells which.
 *
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {import('../candump/line.js').BadLine} BadLine
 * @typedef {(line: string) => Frame|BadLine|null} ParseLine  of trimmed lines, one after the other; null for a line that holds no frame
 *   and need not. Never throws
 */

/** The first that recognises a line; candump is what is left. @type {{recognises: (line: string) => boolean, parser: () => ParseLine}[]} */
const FORMATS = [
  { recognises: isAscLine, parser: ascParser },
  { recognises: isTrcLine, parser: trcParser },
  { recognises: isCanboatLine, parser: canboatParser },
  { recognises: isActisenseLine, parser: actisenseParser },
  { recognises: isYachtDevicesLine, parser: yachtDevicesParser }
]
export const LOG_FORMATS = 'candump, Vector ASC, PCAN TRC, and of NMEA 2000 what actisense-serial and canboat write (raw), ' +
  'Actisense N2K ASCII, and Yacht Devices RAW'
/** Far longer than any line of theirs: that of 64 bytes in Vector's has 400. */
const MAX_LINE_CHARACTERS = 2000

export class LogLines {
  /** @type {ParseLine|undefined} */
  #parse

  /** Whether times without a date count from the log's start, rather than perhaps from the frame before. */
  get countsFromStart () { return this.#parse !== undefined && this.#parse !== parseCandumpLine }

  /** @param {string} untrimmed @returns {Frame|BadLine|null} */
  parse (untrimmed) {
    const line = untrimmed.trim()
    if (line === '' || line[0] === '#') return null
    if (line.length > MAX_LINE_CHARACTERS) return { reason: `a line of ${line.length} characters` }
    const reason = this.#parse ? undefined : whyUnread(line)
    if (reason) return { reason }
    this.#parse ??= FORMATS.find(({ recognises }) => recognises(line))?.parser() ?? parseCandumpLine
    return this.#parse(line)
  }
}
