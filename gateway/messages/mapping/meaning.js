import { contentsOf } from '../contents.js'
import { columnsOf } from './columns.js'
import { readAny, readObject } from './rows.js'

/**
 * What rows on a topic mean, for the fast path; null where they are not the document or the elements of an array.
 * @param {import('./places.js').Place} place
 * @returns {import('../codecs/json-lessons.js').Meaning|null}
 */
export function meaningOf (place) {
  const { plan, field, tags, oneRow } = place
  if (plan.rows) return null
  return {
    read: row => meantBy(row, place),
    timeOf: plan.timeOf,
    tagNames: plan.tags.map(({ name }) => name),
    moreTags: rows => rows === 1 ? oneRow : columnsOf(tags, rows),
    recent: field === undefined ? plan.recent : [] // names of fields are others on each topic
  }
}

/** @param {Record<string, unknown>} row @param {import('./places.js').Place} place */
function meantBy (row, place) {
  const read = place.plan.values ? readObject(row, place) : readAlone(row, place)
  if (!read || read.measurement != null) return null
  const isClash = Object.keys(read.values).some(name => Object.hasOwn(place.tags, name) || Object.hasOwn(read.tags, name))
  return isClash ? null : read
}

/** @param {Record<string, unknown>} row @param {import('./places.js').Place} place */
function readAlone (row, place) {
  const contents = contentsOf({ payload: row }, () => 0n, true)
  return contents?.rows.length === 1 && contents.rows[0] === row ? readAny(row, contents.read, place) : null
}
