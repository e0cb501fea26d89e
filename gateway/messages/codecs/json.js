import { isUtf8 } from 'node:buffer'
import { tagColumns } from '../../batch/tags.js'
import { nowNs } from '../../clock/system-clock.js'
import { describe } from '../../base/errors.js'
import { toBatches } from '../payload.js'
import { formatTime } from '../../batch/time.js'
import { checkJson } from './json-bounds.js'
import { BROKEN, JsonReader } from './json-reader.js'
import { learn } from './json-lessons.js'
import { learnShape, readAlike } from './json-shapes.js'
import { decodeNeuron, isNeuron } from './neuron.js'
import { decodeSenml, isSenml } from './senml.js'
import { readMetrics } from './telegraf-reader.js'
import { decodeTelegraf, isTelegraf } from './telegraf.js'

/**
 * A batch as JSON, for programs without Arrow:
 * `{"source": …, "tags": {…}, "rows": [{"time": "2015-07-10T06:17:32.249713000Z", "speed": 1.5}, …]}`, and where tags vary by row,
 * `"rows": [{"time": …, "tags": {…}, "fields": {"speed": 1.5}}, …]`.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../../batch/batch.js').Column} Column
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {import('../../batch/time.js').TimeUnit} TimeUnit
 *
 * @typedef {object} Mapped  what a mapping does with JSON, text and numbers
 * @property {(message: import('../contents.js').Message) => {batches: Batch[], refused: Refused[]}} convert
 * @property {boolean} isOwn  it says where the values are: no format is looked for
 * @property {import('./json-lessons.js').Lessons} lessons
 * @property {import('./json-lessons.js').Meaning|null} meaning  of rows that are alike; the caller has tried those known
 */

export const contentType = 'application/json'

const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER)
const utf8 = new TextDecoder('utf-8')

/**
 * Times are ISO 8601 with nine decimals, bytes base64. An int64 column with a value beyond 2^53 is text, so that no reader rounds it. What
 * JSON cannot hold (NaN, ±Infinity) is left out like a missing value, and so are identity, units and types.
 * @param {Batch} batch
 * @returns {Buffer}
 */
export function encodeJson (batch) {
  const { source, time, fields, columns } = batch
  const hasColumns = tagColumns(batch.tags).length > 0
  const names = fields.map(({ name }) => `${JSON.stringify(name)}:`)
  const write = fields.map(({ type }, f) => writerOf(type, columns[f]))
  const rows = Array.from(time, (ns, row) => {
    const start = `{"time":"${formatTime(ns)}"`
    let cells = ''
    for (let f = 0; f < fields.length; f++) {
      const value = batch.value(f, row)
      const json = value === undefined ? 'null' : write[f](value)
      if (json !== 'null') cells += `,${names[f]}${json}`
    }
    return hasColumns ? `${start},"tags":${JSON.stringify(batch.tagsAt(row))},"fields":{${cells.slice(1)}}}` : `${start}${cells}}`
  })
  const tags = hasColumns ? {} : batch.tags
  return Buffer.from(`{"source":${JSON.stringify(source)},"tags":${JSON.stringify(tags)},"rows":[${rows.join(',')}]}`)
}

/**
 * Batches, without identity, of any JSON that `toBatches` accepts as a payload, nested objects and arrays included; of SenML (`senml`: the
 * sender declares it), and of what Neuron and Telegraf publish. Whole numbers beyond 2^53 are int64; as the time of a row they are
 * nanoseconds.
 * @param {Uint8Array} message
 * @param {{source?: string, timeUnit?: TimeUnit, senml?: boolean, now?: () => bigint, mapped?: Mapped}} options
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeJson (message, { source, timeUnit, senml = false, now = nowNs, mapped }) {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length)
  const mayBeAlike = !senml && isUtf8(bytes)
  const metrics = mayBeAlike && !mapped?.isOwn ? readMetrics(bytes) : null
  if (metrics) return { batches: metrics, refused: [] }
  const alike = mayBeAlike && !mapped ? readAlike(bytes, { source, timeUnit, now }) : null
  if (alike) return { batches: [alike], refused: [] }
  /** @type {any} */
  let payload
  try {
    payload = parse(bytes)
  } catch (error) {
    return { batches: [], refused: [{ index: -1, reason: describe(error), value: bytes }] }
  }
  if (senml && Array.isArray(payload)) return decodeSenml(payload, { source, now, bytes })
  if (!mapped?.isOwn) {
    if (isSenml(payload)) return decodeSenml(payload, { source, now, bytes })
    if (isNeuron(payload)) return decodeNeuron(payload, { source, now })
    if (isTelegraf(payload)) return decodeTelegraf(payload, bytes)
  }
  if (mapped) return convertMapped(payload, bytes, mapped)
  const content = toBatches({ payload }, { source, timeUnit, nested: true, hasOneNumber: true, now, bytes })
  if (source && content.refused.length === 0) learnShape(bytes, source, isPlain)
  return content
}

/** @param {unknown} payload @param {Buffer} bytes @param {Mapped} mapped */
function convertMapped (payload, bytes, { convert, isOwn, lessons, meaning }) {
  const content = convert({ payload })
  if (meaning && content.refused.length === 0) learn(bytes, lessons, meaning, row => isOwn || isPlain(row))
  return content
}

/** Whether a message of this row alone would be nothing but a row. @param {unknown} row */
function isPlain (row) {
  return !isSenml([row]) && !isNeuron(row) && !isTelegraf(row)
}

/** @param {Buffer} bytes @throws {Error} that says what is wrong with them */
function parse (bytes) {
  checkJson(bytes)
  if (!isUtf8(bytes)) throw new Error('it is not JSON: its bytes are not utf-8')
  try {
    return new JsonReader(bytes).document()
  } catch (error) {
    throw error === BROKEN ? new Error(`it is not JSON: ${whatIsBroken(bytes)}`) : error
  }
}

/** What JSON.parse says of it, and where. @param {Buffer} bytes @returns {string} */
function whatIsBroken (bytes) {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

/** @param {string} type @param {Column} column @returns {(value: any) => string} */
function writerOf (type, column) {
  if (type === 'bytes') return value => `"${Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64')}"`
  if (type !== 'int64') return JSON.stringify
  return isExact(/** @type {BigInt64Array} */ (column)) ? String : value => `"${value}"`
}

/** @param {BigInt64Array} column */
function isExact (column) {
  return column.every(value => value <= MAX_EXACT && value >= -MAX_EXACT)
}
