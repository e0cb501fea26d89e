const BATCH_OVERHEAD_BYTES = 512
const ITEM_OVERHEAD_BYTES = 16

/**
 * About how much memory a batch takes. Typed columns are exact; of texts and bytes only the lengths are summed.
 * @param {import('./batch.js').Batch} batch
 */
export function batchBytes (batch) {
  return BATCH_OVERHEAD_BYTES + columnBytes(batch)
}

/** Of its rows alone. @param {import('./batch.js').Batch} batch */
export function columnBytes ({ time, columns, validity }) {
  let bytes = time.byteLength
  for (const column of columns) {
    if (!Array.isArray(column)) bytes += column.byteLength
    else for (const { length } of column) bytes += ITEM_OVERHEAD_BYTES + length
  }
  for (const valid of validity) bytes += valid?.byteLength ?? 0
  return bytes
}
