import { Batch } from '../../batch/batch.js'
import { contentType, unwritten } from '../../messages/codecs/arrow/arrow.js'
import { SluiceError } from '../../base/errors.js'
import { jsonRows } from './json.js'

/**
 * Batches as the records of a topic: an Arrow stream of some thousand rows each, or a row of JSON each.
 *
 * @typedef {import('../../kafka/produce.js').KafkaRecord} KafkaRecord
 * @typedef {import('../../kafka/produce.js').Bytes} Bytes
 *
 * @typedef {object} Plan  of the batches of one shape
 * @property {string} topic
 * @property {number} partitions
 * @property {number} maxBytes  of the records that are written at once to one partition, as the broker counts
 * @property {'arrow'|'json'} format
 * @property {string} keyTag
 * @property {import('../wide.js').WideColumn[]} columns
 */

/** What the records of larger blocks gain is little. */
const BLOCK_ROWS = 10_000

/** More than Kafka adds to what is written at once, and to a record. */
const HEAD_BYTES = 200
const RECORD_BYTES = 100

/** Rows of JSON are small, and known by their first letter. */
const HEADERS = { arrow: new Map([[Buffer.from('content-type'), Buffer.from(contentType)]]), json: new Map() }

export const ROW_TOO_LARGE = 'SLUICE_SINK_KAFKA_ROW'

/**
 * @param {Plan} plan
 * @param {Batch[]} batches  arranged
 * @param {(key: Buffer, partitions: number) => number} partitionOf
 * @returns {Generator<KafkaRecord, void, void>}
 */
export function * recordsOf (plan, batches, partitionOf) {
  const { topic, partitions, format, keyTag } = plan
  for (const whole of batches) {
    for (const [name, batch] of keyed(whole, keyTag)) {
      const key = Buffer.from(name)
      const partition = partitionOf(key, partitions)
      const values = format === 'arrow' ? blocksOf(plan, renamed(batch, plan.columns), key) : jsonRows(batch, plan.columns)
      for (const value of values) yield { topic, partition, key, value, headers: HEADERS[format] }
    }
  }
}

/**
 * What may be written at once.
 * @param {Iterable<KafkaRecord>} records
 * @param {number} maxBytes
 * @throws {SluiceError} SLUICE_SINK_KAFKA_ROW
 */
export function * grouped (records, maxBytes) {
  /** @type {KafkaRecord[]} */
  let group = []
  let bytes = HEAD_BYTES
  for (const record of records) {
    const its = bytesOf(record.key, record.value)
    if (its + HEAD_BYTES > maxBytes) throw tooLarge(record.topic, its, maxBytes)
    if (bytes + its > maxBytes) {
      yield group
      group = []
      bytes = HEAD_BYTES
    }
    group.push(record)
    bytes += its
  }
  if (group.length > 0) yield group
}

/** @param {Buffer} key @param {Bytes|null} value */
function bytesOf (key, value) {
  return key.length + (value?.length ?? 0) + RECORD_BYTES
}

/**
 * Rows of which each has the same key.
 * @param {Batch} batch
 * @param {string} tag  empty: the source alone is the key
 * @returns {Iterable<[string, Batch]>}
 */
function keyed (batch, tag) {
  const { source, tags, rows } = batch
  const value = tag === '' ? undefined : tags[tag]
  if (value === undefined) return [[source, batch]]
  if (typeof value === 'string') return [[`${source}/${value}`, batch]]
  const { values, valid } = value
  const byKey = Map.groupBy(Array.from({ length: rows }, (_, row) => row), row => {
    return valid && valid[row] === 0 ? source : `${source}/${values[row]}`
  })
  return byKey.size === 1 ? [[[...byKey.keys()][0], batch]] : Array.from(byKey, ([key, its]) => [key, batch.pick(its)])
}

/**
 * With fields that are called as their columns: there is one called `time` already.
 * @param {Batch} batch
 * @param {Plan['columns']} columns
 */
function renamed (batch, columns) {
  const names = columns.filter(({ origin }) => origin === 'field').map(({ name }) => name)
  if (batch.fields.every(({ name }, i) => name === names[i])) return batch
  return new Batch({ ...batch, fields: batch.fields.map((field, i) => ({ ...field, name: names[i] })) })
}

/** Cut to fit. @param {Plan} plan @param {Batch} batch @param {Buffer} key @returns {Generator<Bytes, void, void>} */
function * blocksOf (plan, batch, key) {
  if (batch.rows > BLOCK_ROWS) {
    for (let from = 0; from < batch.rows; from += BLOCK_ROWS) {
      yield * blocksOf(plan, batch.slice(from, Math.min(batch.rows, from + BLOCK_ROWS)), key)
    }
    return
  }
  const block = unwritten(batch)
  if (batch.rows === 1 || bytesOf(key, block) + HEAD_BYTES <= plan.maxBytes) {
    yield block
    return
  }
  const middle = batch.rows >> 1
  yield * blocksOf(plan, batch.slice(0, middle), key)
  yield * blocksOf(plan, batch.slice(middle, batch.rows), key)
}

/** @param {string} topic @param {number} bytes @param {number} maxBytes */
function tooLarge (topic, bytes, maxBytes) {
  return new SluiceError(ROW_TOO_LARGE, `A row takes ${bytes} bytes, and the topic "${topic}" accepts ${maxBytes} (max.message.bytes).`, {
    fix: 'Raise max.message.bytes of the topic and deploy, or store fewer fields or shorter texts in a row.'
  })
}
