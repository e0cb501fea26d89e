import { isName } from '../../gateway/batch/names.js'
import {
  isCount, MAX_CONTROL_EPOCHS, MAX_CONTROL_RANGES, MAX_CONTROL_SOURCES, MAX_NAME, objectOf, rangeOf, refused, short
} from '../control-messages.js'

/**
 * @typedef {[first: number, last: number, rows: number]} RowRange
 *
 * @typedef {object} HeadEpoch  what a spool holds of an epoch
 * @property {string} epoch
 * @property {number} first
 * @property {number} last  one less than `first` where nothing is held
 * @property {number} before  rows of the source that were produced before `first`
 * @property {number} rows  and up to `last`
 * @property {RowRange[]} lost  held once, and no more
 * @property {RowRange[]} replaced  staged again under other identities
 * @property {[number, number][]} doubt  of which single records are asked for
 *
 * @typedef {object} HeadSource
 * @property {string} source
 * @property {number} rows  produced, for the life of the spool
 * @property {number} replacedRows  counted twice in `rows`
 * @property {HeadEpoch[]} epochs
 */

/**
 * Reads a `head` message: anybody may have written it, and it is retained.
 * @param {Buffer} payload
 * @returns {{sources: HeadSource[], isAll: boolean}}  not all: what is not named may be held all the same
 * @throws {import('../../gateway/base/errors.js').SluiceError} SLUICE_PROTOCOL
 */
export function readHead (payload) {
  const { sources, more } = objectOf(payload)
  const read = listOf(sources, MAX_CONTROL_SOURCES, 'sources').map(({ source, rows, replacedRows = 0, epochs }) => {
    if (typeof source !== 'string' || !isName(source) || source.length > MAX_NAME) throw refused('a source has no name')
    if (!isCount(rows) || !isCount(replacedRows) || replacedRows > rows) throw refused(`the rows of ${short(source)} are not counted`)
    return { source, rows, replacedRows, epochs: listOf(epochs, MAX_CONTROL_EPOCHS, 'epochs').map(epochOf) }
  })
  return { sources: read, isAll: more !== true }
}

/** @param {any} value @returns {HeadEpoch} */
function epochOf (value) {
  const [epoch, first, last, before, rows, exceptions = {}] = listOf(value, 6, 'parts of an epoch')
  const isNamed = typeof epoch === 'string' && isName(epoch) && epoch.length <= MAX_NAME && /^\d{1,15}-/.test(epoch)
  if (!isNamed) throw refused('an epoch has no name')
  const isEmpty = last === -1 || last === first - 1
  if (!isCount(first) || !(isEmpty || isCount(last)) || (first > last && !isEmpty)) throw refused(`${short(epoch)} ends before it begins`)
  if (!isCount(before) || !isCount(rows) || rows < before) throw refused(`the rows of epoch ${short(epoch)} shrink`)
  const { lost = [], replaced = [], doubt = [] } = exceptions
  const exceptional = { lost: rangesOf(lost), replaced: rangesOf(replaced), doubt: rangesOf(doubt) }
  return { epoch, first, last: isEmpty ? first - 1 : last, before, rows, ...exceptional }
}

/** @param {unknown} ranges @returns {any[]} in order */
function rangesOf (ranges) {
  return listOf(ranges, MAX_CONTROL_RANGES, 'ranges').map(range => {
    const rows = range?.[2] ?? 0
    if (!isCount(rows)) throw refused('the rows of a range are not counted')
    return [...rangeOf(range), rows]
  }).sort(([a], [b]) => a - b)
}

/** @param {unknown} value @param {number} max @param {string} what @returns {any[]} */
function listOf (value, max, what) {
  if (!Array.isArray(value) || value.length > max || value.includes(null)) throw refused(`it has no list of at most ${max} ${what}`)
  return value
}
