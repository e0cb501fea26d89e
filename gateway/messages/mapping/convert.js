import { describe } from '../../base/errors.js'
import { parseTime } from '../../batch/time.js'
import { MAX_FIELDS, MAX_ROWS, tooLarge } from '../bounds.js'
import { TOO_MANY_FIELDS, cellsOf } from '../cells.js'
import { quoted } from '../gatherer.js'
import { timeIn } from '../precision.js'
import { Refusals } from '../refusals.js'
import { mappedRows } from './rows.js'
import { TaggedSeries } from './tagged-series.js'

/**
 * @typedef {import('./places.js').Place} Place
 * @typedef {import('./rows.js').MappedRow} MappedRow
 * @typedef {import('../contents.js').Message} Message
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {import('../../batch/batch.js').Batch} Batch
 */

/**
 * The batches of a payload that names nothing itself, such as plain JSON: one for each source, its tags as columns. Never throws for what
 * is in the message.
 * @param {Message} message @param {Place} place
 * @param {{now: () => bigint, bytes?: Uint8Array}} options  `bytes`: from which the message was read
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function convert (message, place, { now, bytes }) {
  const refused = new Refusals()
  const series = new TaggedSeries([...Object.keys(place.tags), ...place.plan.tags.map(({ name }) => name)])
  /** @type {bigint|undefined} */
  let arrival
  const arrivalNs = () => arrival ??= message.timestamp == null ? now() : parseTime(message.timestamp)
  try {
    const { rows, read, source: named } = mappedRows(message, place, now)
    if (rows.length === 0) refused.add(-1, 'the payload has no rows', message.payload)
    if (rows.length > MAX_ROWS) throw tooLarge(`it has ${rows.length} rows, over ${MAX_ROWS}`)
    for (let index = 0; index < rows.length; index++) {
      const take = (/** @type {MappedRow} */ row) => {
        const ns = row.time == null
          ? arrivalNs()
          : message.precision ? timeIn(row.time, String(message.precision)) : place.plan.timeOf(row.time)
        const own = place.own ?? row.measurement ?? named ?? place.source
        return takeRow(row, ns, own, place, series, (reason, value) => refused.add(index, reason, value))
      }
      const reason = tryRow(rows[index], read, take)
      if (reason && !refused.addRow(index, reason, rows[index], rows.length - index - 1)) break
    }
  } catch (error) {
    refused.add(-1, describe(error), bytes ?? message.payload)
  }
  return { batches: series.batches(), refused: refused.list(bytes ?? message.payload) }
}

/** @param {unknown} row @param {(row: unknown) => MappedRow|null} read @param {(row: MappedRow) => string|null} take */
function tryRow (row, read, take) {
  try {
    const mapped = read(row)
    return mapped ? take(mapped) : 'it is not an object of values, a point or a [fields, tags] pair'
  } catch (error) {
    return describe(error)
  }
}

/**
 * @param {MappedRow} row @param {bigint} ns @param {unknown} source @param {Place} place @param {TaggedSeries} series
 * @param {(reason: string, value: unknown) => void} refuse  of single values
 * @returns {string|null} why the row was refused
 */
function takeRow ({ values, tags: own, isCut }, ns, source, place, series, refuse) {
  const tags = { ...own, ...place.tags }
  let isReported = false
  const report = (/** @type {string} */ reason, /** @type {unknown} */ value) => {
    isReported = true
    refuse(reason, value)
  }
  const names = Object.keys(values).filter(name => {
    if (!Object.hasOwn(tags, name)) return true
    report(`${quoted(name)} is the name of a tag: rename that, or exclude the field`, values[name])
    return false
  })
  const cells = cellsOf(names, values, report)
  if (cells.length > MAX_FIELDS) return TOO_MANY_FIELDS
  if (cells.length > 0) return series.take(source, tags, ns, cells)
  return isReported || isCut ? null : 'it holds no values'
}
