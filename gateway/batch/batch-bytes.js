import { tagColumns } from './tags.js'

const BATCH_OVERHEAD_BYTES = 512
const ITEM_OVERHEAD_BYTES = 16
/** A tag's texts are few, and its rows refer to them. */
const TAG_BYTES = 8

/**
 * About how much memory a batch takes. Typed columns are exact; of texts and bytes only the lengths are summed.
 * @param {import('./batch.js').Batch} batch
 */
export function batchBytes (batch) {
  return BATCH_OVERHEAD_BYTES + columnBytes(batch)
}

/** Of its rows alone. @param {import('./batch.js').Batch} batch */
export function columnBytes ({ time, columns, validity, tags }) {
  let bytes = time.byteLength
  for (const column of columns) {
    if (!Array.isArray(column)) bytes += column.byteLength
    else for (const { length } of column) bytes += ITEM_OVERHEAD_BYTES + length
  }
  for (const valid of validity) bytes += valid?.byteLength ?? 0
  for (const [, { values, valid }] of tagColumns(tags)) bytes += values.length * TAG_BYTES + (valid?.byteLength ?? 0)
  return bytes
}
