import * as apache from 'apache-arrow'

/** Streams of another Arrow library, apache-arrow. */

/**
 * A timestamp column of exactly these integers, which apache-arrow's builders take as milliseconds; null is missing.
 * @param {(bigint|null)[]} values @param {apache.Timestamp} [type]
 */
export function times (values, type = new apache.TimestampNanosecond()) {
  const missing = values.filter(value => value === null).length
  const bits = values.reduce((byte, value, row) => value === null ? byte : byte | 1 << row, 0)
  const data = BigInt64Array.from(values, value => value ?? 7n)
  return new apache.Vector([apache.makeData(
    { type, length: values.length, data, nullCount: missing, nullBitmap: missing ? Uint8Array.of(bits) : null }
  )])
}

/** @param {Record<string, apache.Vector>} columns  all as long @returns {Buffer} */
export function stream (columns) {
  return Buffer.from(apache.tableToIPC(new apache.Table(columns), 'stream'))
}
