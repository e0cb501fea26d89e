import { readFileSync, readdirSync } from 'node:fs'
import { SparkplugHost } from '../../../gateway/sparkplug/host.js'

/**
 * The messages of `test/data/mapping/`, and what becomes of them.
 *
 * @typedef {{topic: string, payload?: string, base64?: string, contentType?: string}} Message
 * @typedef {object} Row
 * @property {string} source
 * @property {string} [time]  nanoseconds; none: it came when the message did
 * @property {Record<string, string>} tags
 * @property {Record<string, unknown>} fields
 * @typedef {Message & {rows: Row[], refused?: string[]}} Proved
 * @typedef {{preset: string, mapping?: {topic?: string, tags?: string[]}, messages: Proved[]}} Recorded
 */

const FOLDER = 'test/data/mapping'

/** When all of them arrive. */
export const ARRIVAL_NS = 1_800_000_000_000_000_000n

/** @returns {Recorded[]} */
export function recorded () {
  const files = readdirSync(FOLDER).filter(name => name.endsWith('.json')).sort()
  return files.map(name => JSON.parse(readFileSync(`${FOLDER}/${name}`, 'utf8')))
}

/** @param {Message} message */
export function bytesOf ({ payload = '', base64 }) {
  return base64 === undefined ? Buffer.from(payload) : Buffer.from(base64, 'base64')
}

/**
 * What a stage in reads them as.
 * @param {import('../../../gateway/messages/mapping/mapping.js').Mapper} mapper
 */
export function reader (mapper) {
  const host = new SparkplugHost({ requestRebirth () {}, now: () => ARRIVAL_NS })
  return (/** @type {Message} */ message) => {
    const { topic, contentType } = message
    if (topic.startsWith('spBv1.0/')) return mapper.adopt(host.receive(topic, bytesOf(message)), topic)
    return mapper.decode(bytesOf(message), { topic, contentType, now: () => ARRIVAL_NS })
  }
}

/** @param {import('../../../gateway/batch/batch.js').Batch[]} batches @returns {Row[]} */
export function rowsOf (batches) {
  return batches.flatMap(batch => batch.toObjects().map(({ time, ...values }, row) => ({
    source: batch.source,
    ...time !== ARRIVAL_NS && { time: String(time) },
    tags: batch.tagsAt(row),
    fields: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}n` : value]))
  })))
}
