import { Batch } from '../../../gateway/batch/batch.js'
import { decodeMessage } from '../../../gateway/messages/codecs/index.js'

/**
 * What a third-party message is read as.
 * @param {string|object} payload  bytes, a text, or what is sent as JSON @param {object} [options]
 */
export function decode (payload, options) {
  const bytes = payload instanceof Uint8Array ? payload : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
  return decodeMessage(bytes, { source: 'plant', ...options })
}

/** What a batch says, for comparing. @param {Batch} batch */
export const plain = ({ source, tags, fields, ...batch }) => ({
  source,
  tags,
  units: fields.map(({ unit = '' }) => unit),
  rows: new Batch(/** @type {any} */ ({ source, fields, ...batch })).toObjects()
})

/** A tag that every row has. @param {string[]} values */
export const columnOf = (...values) => ({ values, valid: null })

/** Every row with its tags, in an order of its own. @param {Batch[]} batches */
export function rowsOf (batches) {
  return batches.flatMap(batch => Array.from(batch.time, (time, row) => {
    const values = batch.fields.map(({ name, type }, f) => [name, type, shown(batch.value(f, row))])
    const present = values.filter(([, , value]) => value !== undefined).sort()
    return JSON.stringify([batch.source, String(time), Object.entries(batch.tagsAt(row)).sort(), present])
  })).sort()
}

/** @param {unknown} value */
function shown (value) {
  if (typeof value === 'bigint') return `${value}n`
  return Object.is(value, -0) ? '-0' : value
}
