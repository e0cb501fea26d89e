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
