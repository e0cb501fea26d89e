import { tagColumns } from '../../batch/tags.js'
import { nowNs } from '../../clock/system-clock.js'
import { describe } from '../../base/errors.js'
import { toBatches } from '../payload.js'
import { TIME_KEYS } from '../rows.js'
import { formatTime } from '../../batch/time.js'
import { checkJson } from './json-bounds.js'
import { decodeNeuron, isNeuron } from './neuron.js'
import { decodeSenml, isSenml } from './senml.js'

/**
 * A batch as JSON, for programs without Arrow:
 * `{"source": …, "tags": {…}, "rows": [{"time": "2015-07-10T06:17:32.249713000Z", "speed": 1.5}, …]}`, and where tags vary by row,
 * `"rows": [{"time": …, "tags": {…}, "fields": {"speed": 1.5}}, …]`.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../../batch/batch.js').Column} Column
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {import('../../batch/time.js').TimeUnit} TimeUnit
 */

export const contentType = 'application/json'

const LONG_NUMBER = /\d{16}/
const WHOLE = /^\d+$/
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER)
const utf8 = new TextDecoder('utf-8', { fatal: true })

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
 * sender declares it), and of what Neuron publishes. A time beyond 2^53 is read digit for digit, as nanoseconds; other numbers are
 * JavaScript's.
 * @param {Uint8Array} bytes
 * @param {{source?: string, timeUnit?: TimeUnit, senml?: boolean, now?: () => bigint}} options
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeJson (bytes, { source, timeUnit, senml = false, now = nowNs }) {
  let payload
  try {
    checkJson(bytes)
  } catch (error) {
    return { batches: [], refused: [{ index: -1, reason: describe(error), value: bytes }] }
  }
  try {
    const text = utf8.decode(bytes)
    payload = JSON.parse(text, LONG_NUMBER.test(text) ? /** @type {any} */ (withExactTimes) : undefined)
  } catch (error) {
    return { batches: [], refused: [{ index: -1, reason: `it is not JSON: ${/** @type {Error} */ (error).message}`, value: bytes }] }
  }
  if ((senml && Array.isArray(payload)) || isSenml(payload)) return decodeSenml(payload, { source, now, bytes })
  if (isNeuron(payload)) return decodeNeuron(payload, { source, now })
  return toBatches({ payload }, { source, timeUnit, nested: true, now, bytes })
}

/** @param {string} key @param {unknown} value @param {any} context  the third parameter of a reviver, which TypeScript does not know yet */
function withExactTimes (key, value, context) {
  const isTime = typeof value === 'number' && !Number.isSafeInteger(value) && TIME_KEYS.includes(key)
  return isTime && WHOLE.test(context.source) ? BigInt(context.source) : value
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
