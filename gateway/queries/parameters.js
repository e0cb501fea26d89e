import { nowNs } from '../clock/system-clock.js'
import { formatTime, parseTime } from '../batch/time.js'
import { SluiceError, describe } from '../base/errors.js'
import { readOptions } from '../base/options.js'

/**
 * Parameters that several queries share.
 *
 * @typedef {import('../../resources/options.js').Property} Property
 * @typedef {import('../../resources/options.js').Schema} Schema
 */

const MINUTE_NS = 60_000_000_000
const HOUR_NS = 60 * MINUTE_NS

/** @type {Property} */
export const sensors = {
  type: 'array',
  title: 'Sensors',
  description: 'The names of the sensors: columns of a wide table, or values of the column sensor.',
  items: { type: 'string', title: 'Sensor' },
  minItems: 1,
  maxItems: 1000,
  default: []
}

/** @type {Record<'from'|'to'|'windowMinutes', Property>} */
export const range = {
  from: {
    type: 'string',
    title: 'From',
    description: 'The start of the range, included: ISO 8601 with a zone, milliseconds since 1970, or in a message also a Date or a ' +
      'BigInt of nanoseconds. Empty: the window before the end.',
    default: ''
  },
  to: {
    type: 'string',
    title: 'To',
    description: 'The end of the range, excluded. Empty: now.',
    default: ''
  },
  windowMinutes: {
    type: 'number',
    title: 'Window',
    description: 'The length of the range where its start is empty.',
    exclusiveMinimum: 0,
    maximum: 52_560_000,
    default: 60,
    'x-unit': 'minutes'
  }
}

/** @type {Property} */
export const tags = {
  type: 'array',
  title: 'Tags',
  description: 'Only rows with these tags: of each tag named, one of its values. An empty value stands for rows without the tag. In a ' +
    'message also {device: "a"}, {device: ["a", "b"]} or {device: null}.',
  items: {
    type: 'object',
    required: ['tag'],
    properties: {
      tag: { type: 'string', title: 'Tag', description: 'Its name, such as device.', minLength: 1 },
      value: { type: 'string', title: 'Value', description: 'One that it may have. Empty: rows without the tag.', default: '' }
    }
  },
  maxItems: 1000,
  default: []
}

/** @type {Property} */
export const bucketHours = {
  type: 'number',
  title: 'Bucket',
  description: 'The length of the intervals of a query that summarises intervals (out-of-range, mean, difference); they begin at ' +
    'its multiples since 1970.',
  exclusiveMinimum: 0,
  maximum: 876_000,
  default: 1,
  'x-unit': 'hours'
}

/** What the aggregate is, unless one is chosen. */
const OWN = 'own'

/** @type {Property} */
export const aggregate = {
  type: 'string',
  title: 'Aggregate',
  description: 'What values become. own: the standard deviation of a sample over a range (deviation), the mean of intervals (mean, ' +
    'difference). first and last are read by the gateway, in order of time.',
  enum: [OWN, 'mean', 'min', 'max', 'stddev', 'count', 'sum', 'first', 'last'],
  default: OWN
}

/**
 * @param {string} chosen
 * @param {import('../databases/reader.js').Statistic} own  of the query
 * @returns {import('../databases/reader.js').Statistic}
 */
export function aggregateOf (chosen, own) {
  return chosen === OWN ? own : /** @type {any} */ (chosen)
}

/** Parameters that are times. */
const TIMES = ['from', 'to', 'at']

/**
 * The parameters of a query, typed and complete: the range, which is before now or around a time given as `at`, as `from` and `to` in
 * BigInt nanoseconds, other times too (undefined where empty), `bucketNs` for buckets, and the tags wanted.
 * @param {Schema} schema
 * @param {Record<string, any>} given  keys not in the schema are ignored
 * @param {bigint} [now]  nanoseconds since 1970
 * @returns {any}
 * @throws {SluiceError} SLUICE_QUERY_PARAMETERS
 */
export function readParameters (schema, given, now = nowNs()) {
  const { type, properties } = schema
  const asked = TIMES.filter(name => name in properties)
  const times = Object.fromEntries(asked.map(name => [name, timeOf(properties[name].title, given[name])]))
  const others = Object.fromEntries(Object.entries(properties).filter(([name]) => !TIMES.includes(name)))
  const wanted = { ...given, tags: tagRows(given.tags) }
  const { windowMinutes, bucketHours: hours, tags: rows, ...read } = readTyped({ type, properties: others }, wanted)
  const window = BigInt(Math.round(windowMinutes * MINUTE_NS))
  const to = times.to ?? (times.at === undefined ? now : times.at + window)
  const from = times.from ?? (times.at ?? to) - window
  if (from >= to) {
    throw new SluiceError(
      'SLUICE_QUERY_PARAMETERS',
      `The range starts at ${formatTime(from)}, which is not before its end at ${formatTime(to)}.`,
      { fix: 'Give an earlier start or a later end.' }
    )
  }
  const wantedTags = rows?.length > 0 ? { tags: tagsOf(rows) } : {}
  return { ...read, ...wantedTags, ...times, from, to, ...hours !== undefined && { bucketNs: BigInt(Math.ceil(hours * HOUR_NS)) } }
}

/** Tags as a message may have them, as the rows of the form. @param {unknown} given */
function tagRows (given) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  return Object.entries(given).flatMap(([tag, values]) => {
    const all = [values].flat()
    if (all.length > 0) return all.map(value => ({ tag, value: value ?? '' }))
    throw new SluiceError('SLUICE_QUERY_PARAMETERS', `The query wants none of the values of the tag "${tag}".`, {
      fix: 'Name those that it wants, or leave the tag out.'
    })
  })
}

/** @param {{tag: string, value: string}[]} rows @returns {import('../databases/reader.js').WantedTags} */
function tagsOf (rows) {
  const byTag = Map.groupBy(rows, ({ tag }) => tag)
  return Object.fromEntries(Array.from(byTag, ([tag, its]) => [tag, its.flatMap(({ value }) => value === '' ? [null, ''] : [value])]))
}

/**
 * @param {object} schema
 * @param {object} given
 * @returns {any}
 * @throws {SluiceError} SLUICE_QUERY_PARAMETERS
 */
export function readTyped (schema, given) {
  try {
    return readOptions(schema, given)
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new SluiceError('SLUICE_QUERY_PARAMETERS', `The query cannot be run: ${message}`, {
      cause: error,
      fix: 'Correct it in the form or in msg.query.'
    })
  }
}

/** @param {string} title @param {unknown} value @returns {bigint|undefined} */
function timeOf (title, value) {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value
  try {
    return parseTime(value)
  } catch (error) {
    throw new SluiceError('SLUICE_QUERY_PARAMETERS', `The query's "${title}" is wrong: ${describe(error)}`, { cause: error })
  }
}
