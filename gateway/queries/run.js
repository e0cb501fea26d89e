import { floor } from '../batch/layouts.js'
import { DAY_NS, formatTime } from '../batch/time.js'
import { SluiceError } from '../base/errors.js'
import { queries } from './index.js'
import { PAGE_ROWS } from '../databases/reading/pages.js'
import { readParameters, readTyped } from './parameters.js'

/** @typedef {import('./index.js').Row} Row */

/** How the result of any query is returned. */
export const resultProperties = {
  repetitions: {
    type: 'integer',
    title: 'Repetitions',
    description: 'So often the query is run, one after the other, each with an answer of its own that says how long it took.',
    minimum: 1,
    maximum: 10_000,
    default: 1,
    'x-advanced': true
  },
  cache: {
    type: 'string',
    title: 'Caches',
    description: 'cold: before each run the server is restarted, by the command below, and the caches of this machine are dropped, as ' +
      'far as the gateway may. The answer says whether it was cold or warm, and why.',
    enum: ['warm', 'cold'],
    default: 'warm',
    'x-advanced': true
  },
  times: {
    type: 'string',
    title: 'Times',
    description: 'iso: text with nine decimals, which survives JSON. bigint: nanoseconds since 1970 as BigInt. Both are exact.',
    enum: ['iso', 'bigint'],
    default: 'iso'
  },
  limit: {
    type: 'integer',
    title: 'Limit',
    description: 'A query ends after this many rows, and reports it: more would overload the editor and fill the memory.',
    minimum: 1,
    maximum: 1_000_000_000,
    default: 100_000,
    'x-unit': 'rows'
  },
  pageRows: {
    type: 'integer',
    title: 'Page',
    description: 'The most rows in one message.',
    minimum: 10,
    maximum: PAGE_ROWS,
    default: 1000,
    'x-unit': 'rows'
  }
}

/**
 * @typedef {object} Page
 * @property {object[]} rows  by time; `time` and other times as BigInt or text
 * @property {number} index  of the page
 * @property {boolean} last
 * @property {boolean} cut  at the limit: there are more rows
 */

/**
 * Runs a query. The database is read as pages are consumed. The last page is marked; an empty result is one empty page.
 * @param {import('../databases/reader.js').Reader} reader
 * @param {{name: string, [parameter: string]: unknown}} query
 * @param {{signal?: AbortSignal, times?: 'iso'|'bigint', limit?: number, pageRows?: number, now?: bigint, wholeDays?: boolean}} [options]
 *   `wholeDays`: all of each UTC day that the range touches; of intervals, all that begin within these days
 * @returns {AsyncGenerator<Page, void, void>}
 * @throws {SluiceError} SLUICE_QUERY_NAME, SLUICE_QUERY_PARAMETERS
 */
export async function * run (reader, { name, ...given }, options = {}) {
  const { signal, times = 'bigint', now, wholeDays = false } = options
  const { limit = resultProperties.limit.default, pageRows = resultProperties.pageRows.default } = options
  const query = queryNamed(name)
  const asked = readParameters(query.schema, given, now)
  const parameters = wholeDays ? { ...asked, ...daysOf(asked) } : asked
  const shown = times === 'iso' ? withTexts : (/** @type {Row[]} */ rows) => rows
  let index = 0
  let total = 0
  /** @type {Row[]} */
  let waiting = []
  for await (const rows of query.read(reader, parameters, { signal, pageRows })) {
    for (const piece of pieces(rows, pageRows)) {
      signal?.throwIfAborted()
      if (total >= limit) {
        yield { rows: shown(waiting), index, last: true, cut: true }
        return
      }
      if (waiting.length > 0) yield { rows: shown(waiting), index: index++, last: false, cut: false }
      waiting = piece.slice(0, limit - total)
      total += waiting.length
      if (waiting.length < piece.length) {
        yield { rows: shown(waiting), index, last: true, cut: true }
        return
      }
    }
  }
  yield { rows: shown(waiting), index, last: true, cut: false }
}

/** What the rows of a query may have. @param {{name: string, [parameter: string]: unknown}} query @returns {readonly string[]} */
export function columnsOf ({ name, ...given }) {
  const query = queryNamed(name)
  return query.columns(readParameters(query.schema, given))
}

/**
 * @param {object} given  other keys are ignored
 * @returns {{times: 'iso'|'bigint', limit: number, pageRows: number, repetitions: number, cache: 'warm'|'cold'}}
 * @throws {SluiceError} SLUICE_QUERY_PARAMETERS
 */
export function readResultOptions (given) {
  return readTyped({ type: 'object', properties: resultProperties }, given)
}

/** @param {string} name @throws {SluiceError} SLUICE_QUERY_NAME */
export function queryNamed (name) {
  if (!Object.hasOwn(queries, name)) {
    throw new SluiceError('SLUICE_QUERY_NAME', `There is no query "${name}".`, { fix: `Use ${Object.keys(queries).join(', ')}.` })
  }
  return queries[name]
}

/** @param {Row[]} rows @param {number} size */
function * pieces (rows, size) {
  if (rows.length <= size) {
    if (rows.length > 0) yield rows
    return
  }
  for (let first = 0; first < rows.length; first += size) yield rows.slice(first, first + size)
}

/** @param {{from: bigint, to: bigint, bucketNs?: bigint}} asked */
function daysOf ({ from, to, bucketNs = 1n }) {
  const [first, last] = [floor(from, DAY_NS), floor(to - 1n, DAY_NS) + DAY_NS - 1n]
  return { from: floor(first - 1n, bucketNs) + bucketNs, to: floor(last, bucketNs) + bucketNs }
}

/** @param {Row[]} rows */
function withTexts (rows) {
  return rows.map(row => ({ ...row, time: formatTime(row.time), ...typeof row.end === 'bigint' && { end: formatTime(row.end) } }))
}
