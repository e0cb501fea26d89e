import { SluiceError } from '../../base/errors.js'

/** What documents of the layouts with arrays look like to a reader. */

/** The layout of a document that holds arrays of samples or values; null of any other. @param {any} document */
export function arrayLayoutOf ({ sensors, fields, measurements }) {
  if (Array.isArray(measurements)) return Array.isArray(fields) ? 'document' : 'paper-bulk'
  return Array.isArray(sensors) ? 'paper-individual' : null
}

const ARRAYS = ['document', 'paper-individual', 'paper-bulk']

/**
 * A document that is there in another layout holds samples that the one asked for would not find.
 * @param {string} collection
 * @param {string} asked  the layout
 * @param {object|null} document  one of the collection
 * @throws {SluiceError} SLUICE_QUERY_TABLE
 */
export function checkLayout (collection, asked, document) {
  if (document === null) return
  const found = arrayLayoutOf(document)
  if (found === (ARRAYS.includes(asked) ? asked : null)) return
  const what = found === null ? `no documents of the layout ${asked}` : `documents of the layout ${found}, not ${asked}`
  throw new SluiceError('SLUICE_QUERY_TABLE', `The collection "${collection}" has ${what}.`, {
    fix: 'Set the layout that the sink has, or had when it stored them.'
  })
}

/** The place in the array that a sensor's name stands for; null of one that is no such number. @param {string} sensor */
export function placeOf (sensor) {
  return /^(0|[1-9]\d*)$/.test(sensor) ? Number(sensor) : null
}

/**
 * The samples of a second as documents of other layouts have them.
 * @param {Date} start @param {{time: Date, sensors: any[]}[]} measurements
 */
export function sinceStart (start, measurements) {
  return measurements.map(({ time, sensors }) => ({ ns: BigInt(time.getTime() - start.getTime()) * 1_000_000n, m: sensors }))
}
