import { MAX_ROWS, tooLarge } from '../../bounds.js'
import { Gatherer } from '../../gatherer.js'
import { Refusals } from '../../refusals.js'
import { parseTime } from '../../../batch/time.js'
import { describe } from '../../../base/errors.js'
import { parseLines } from './parse.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('../../payload.js').Refused} Refused
 */

/** Whether a text begins with a valid point. @param {string} text */
export function isLineProtocol (text) {
  for (const point of parseLines(text)) return 'cells' in point
  return false
}

/**
 * The points of a text as Telegraf publishes it, times in nanoseconds. The measurement is the source; of each measurement and set of tags,
 * the rows make one batch.
 * @param {string} text
 * @param {{now: () => bigint}} options  of points without a time
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeLines (text, { now }) {
  const gatherer = new Gatherer()
  const refused = new Refusals()
  let index = -1
  for (const point of parseLines(text)) {
    if (++index === MAX_ROWS) {
      refused.add(-1, describe(tooLarge(`it has over ${MAX_ROWS} lines, and the rest of them is left out`)), text)
      break
    }
    const reason = 'reason' in point ? point.reason : take(gatherer, point, now)
    if (reason && !refused.addRow(index, `line ${point.line}: ${reason}`, 'text' in point ? point.text : point)) break
  }
  return { batches: gatherer.batches(), refused: refused.list(text) }
}

/**
 * @param {Gatherer} gatherer
 * @param {import('./parse.js').Point} point
 * @param {() => bigint} now
 * @returns {string|null} why it was refused
 */
function take (gatherer, { measurement, tags, cells, time }, now) {
  if (new Set(cells.map(({ name }) => name)).size < cells.length) return 'it has a field twice'
  try {
    return gatherer.take(measurement, tags, time === '' ? now() : parseTime(time, 'ns'), cells)
  } catch (error) {
    return describe(error)
  }
}
