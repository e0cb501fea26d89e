import { formatTime } from '../../batch/time.js'
import { Mapper } from './mapper.js'

/**
 * What became of a message, as a form shows it: its first row, and how many more there are. JSON can hold it.
 *
 * @typedef {object} Tried
 * @property {string} topic
 * @property {number} mapping  the index of the one that decided; -1: none
 * @property {string|null} source
 * @property {Record<string, string>} tags
 * @property {string|null} time  ISO 8601
 * @property {[name: string, type: string, value: string|number|boolean][]} fields
 * @property {number} more  rows
 * @property {{reason: string}[]} refused
 */

/**
 * @param {import('./presets.js').Mapping[]} mappings
 * @param {{topic: string, payload: Uint8Array, contentType?: string}[]} messages
 * @param {{timeUnit?: import('../../batch/time.js').TimeUnit, now?: () => bigint}} [options]
 * @returns {Tried[]}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_MAPPING
 */
export function tryMappings (mappings, messages, { timeUnit, now } = {}) {
  const mapper = new Mapper(mappings, { timeUnit })
  return messages.map(({ topic, payload, contentType }) => {
    const { batches, refused } = mapper.decode(payload, { topic, contentType, now })
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0)
    return {
      topic,
      mapping: mapper.find(topic),
      ...firstRow(batches[0]),
      more: Math.max(0, rows - 1),
      refused: refused.map(({ reason }) => ({ reason }))
    }
  })
}

/** @param {import('../../batch/batch.js').Batch|undefined} batch @returns {Pick<Tried, 'source'|'tags'|'time'|'fields'>} */
function firstRow (batch) {
  if (!batch) return { source: null, tags: {}, time: null, fields: [] }
  const fields = batch.fields.map(({ name, type }, f) => /** @type {[string, string, any]} */ ([name, type, printable(batch.value(f, 0))]))
  return {
    source: batch.source,
    tags: batch.tagsAt(0),
    time: formatTime(batch.time[0]),
    fields: fields.filter(([, , value]) => value !== undefined)
  }
}

/** @param {unknown} value */
function printable (value) {
  if (typeof value === 'bigint') return String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}
