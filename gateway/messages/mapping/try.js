import { nowNs } from '../../clock/system-clock.js'
import { Mapper } from './mapper.js'

/**
 * What became of a message, for a form: its first row, and how many more there are.
 *
 * @typedef {object} Tried
 * @property {string} topic
 * @property {number} mapping  the index of the one that decided; -1: none
 * @property {string|null} source
 * @property {Record<string, string>} tags
 * @property {bigint|null} time
 * @property {[name: string, type: string, value: unknown][]} fields
 * @property {number} more  rows
 * @property {{reason: string}[]} refused
 *
 * @typedef {(mapper: Mapper, payload: Buffer) => import('./mapper.js').Content} Reads
 */

/**
 * @param {import('./presets.js').Mapping[]} mappings
 * @param {{topic: string, payload: Buffer, contentType?: string, read?: Reads}[]} messages  `read`: otherwise than one of MQTT
 * @param {{timeUnit?: import('../../batch/time.js').TimeUnit, now?: bigint}} [options]
 * @returns {Tried[]}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_MAPPING
 */
export function tryMappings (mappings, messages, { timeUnit, now = nowNs() } = {}) {
  const mapper = new Mapper(mappings, { timeUnit })
  return messages.map(({ topic, payload, contentType, read }) => {
    const { batches, refused } = read?.(mapper, payload) ?? mapper.decode(payload, { topic, contentType, now: () => now })
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
  const fields = batch.fields.map(({ name, type }, f) => /** @type {[string, string, unknown]} */ ([name, type, batch.value(f, 0)]))
  return {
    source: batch.source,
    tags: batch.tagsAt(0),
    time: batch.time[0],
    fields: fields.filter(([, , value]) => value !== undefined)
  }
}
