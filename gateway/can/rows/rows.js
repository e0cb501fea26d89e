/**
 * The contract of what sorts frames into the rows of batches. What makes no row is counted.
 *
 * @typedef {import('../candump/line.js').Frame} Frame
 *
 * @typedef {object} Rows
 * @property {number} rows  gathered so far
 * @property {boolean} isFull
 * @property {(ns: bigint, frame: Frame) => void} add
 * @property {() => import('../../batch/batch.js').Batch} take  the batch of them; the next starts empty
 *
 * @typedef {object} Sorter
 * @property {(ns: bigint, frame: Frame) => Rows|undefined} put  into the rows that it returns
 * @property {() => Iterable<Rows>} all
 * @property {Record<string, number>} transported  counters of messages that come in several frames
 *
 * @typedef {object} RowCounters
 * @property {number} rows
 * @property {number} unknownIds
 * @property {number} undecodable
 * @property {number} otherFrames
 * @property {number} [errorFrames]  without it, they count as other frames
 */

export const MAX_ROWS = 1000
