import { floor } from '../../batch/layouts.js'
import { Pages } from './pages.js'
import { whole } from './values.js'

/**
 * Documents of the layout of that name (see `documents` in `gateway/batch/layouts.js`), read as samples.
 *
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {{fields?: string[], measurements: {ns: number|bigint, m: (Sample['value']|null)[]}[]}} Document
 * @typedef {{time: bigint, measurements: string|Document}} DocumentRow  `time` is the start of the interval; documents may come as JSON
 *   text
 */

/** A whole number that JSON.parse might round. */
const LONG_NUMBER = /(?<![\d.])\d{16,}(?![\d.eE])/

/** What JSON has no numbers for. */
const INFINITIES = new Map([['Infinity', Infinity], ['-Infinity', -Infinity]])

/** The names of a document's fields; where it has none, their numbers. @param {Document} document */
export function fieldsOf ({ fields, measurements: [first] }) {
  return fields ?? Array.from(first?.m ?? [], (_, number) => String(number))
}

/**
 * The intervals that may hold samples of a range: documents whose start is at or after `first` and before `to`.
 * @param {{from: bigint, to: bigint}} range
 * @param {bigint} intervalNs
 */
export function documentRange ({ from, to }, intervalNs) {
  return { first: floor(from, intervalNs), to }
}

/**
 * The samples of documents, of which only those of one interval are held at a time. A text that reads Infinity or -Infinity
 * becomes that number.
 * @param {AsyncIterable<DocumentRow>|Iterable<DocumentRow>} rows  in the order of time
 * @param {import('../reader.js').Range & {pageRows?: number}} range
 * @returns {AsyncGenerator<Sample[], void, void>}
 */
export async function * documentSamples (rows, range) {
  const pages = new Pages(range)
  /** @type {DocumentRow[]} */
  let interval = []
  for await (const row of rows) {
    if (interval.length > 0 && interval[0].time !== row.time) {
      addInterval(pages, interval, range)
      yield * pages.full()
      interval = []
    }
    interval.push(row)
  }
  addInterval(pages, interval, range)
  yield * pages.rest()
}

/** @param {Pages} pages @param {DocumentRow[]} interval  its documents @param {import('../reader.js').Range} range */
function addInterval (pages, interval, { sensors, from, to }) {
  const samples = interval.flatMap(({ time: start, measurements }) => {
    const document = typeof measurements === 'string' ? parseDocument(measurements) : measurements
    const fields = fieldsOf(document)
    const columns = sensors.map(sensor => fields.indexOf(sensor))
    return document.measurements.flatMap(({ ns, m }) => {
      const time = start + BigInt(ns)
      if (time < from || time >= to) return []
      return columns.flatMap((column, place) => m[column] == null ? [] : [{ time, sensor: sensors[place], value: valueOf(m[column]) }])
    })
  })
  samples.sort((a, b) => a.time < b.time ? -1 : a.time > b.time ? 1 : 0)
  for (const { time, sensor, value } of samples) pages.add(time, sensor, value)
}

/** @param {any} value @returns {Sample['value']} */
function valueOf (value) {
  return INFINITIES.get(value) ?? value
}

/** @param {string} text @returns {Document} with whole numbers exact */
export function parseDocument (text) {
  return LONG_NUMBER.test(text) ? JSON.parse(text, /** @type {any} */ (exactNumber)) : JSON.parse(text)
}

/** @param {string} _key @param {unknown} value @param {{source?: string}} context */
function exactNumber (_key, value, { source = '' }) {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
  const exact = BigInt(source)
  return BigInt.asIntN(64, exact) === exact ? whole(exact) : value
}
