import { SluiceError } from '../../../base/errors.js'

/**
 * Numbers of the Arrow IPC format, as its Message.fbs and Schema.fbs define them, and what Sluice adds to it.
 * https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
 *
 * Typed arrays have the machine's byte order: little-endian, like Arrow's streams.
 */

export const CONTINUATION = 0xffffffff
/** Continuation marker and metadata length, before every message. */
export const PREFIX_BYTES = 8
export const METADATA_V5 = 4

export const Header = Object.freeze({ schema: 1, dictionaryBatch: 2, recordBatch: 3 })

export const Type = Object.freeze({
  null: 1, int: 2, floatingPoint: 3, binary: 4, utf8: 5, bool: 6, decimal: 7, date: 8, time: 9, timestamp: 10, list: 12, struct: 13,
  union: 14, fixedSizeBinary: 15, fixedSizeList: 16, duration: 18, largeBinary: 19, largeUtf8: 20, largeList: 21, runEndEncoded: 22,
  binaryView: 23, utf8View: 24, listView: 25, largeListView: 26
})
export const TYPE_NAMES = [
  'none', 'null', 'int', 'floating point', 'binary', 'utf8', 'bool', 'decimal', 'date', 'time', 'timestamp', 'interval', 'list', 'struct',
  'union', 'fixed-size binary', 'fixed-size list', 'map', 'duration', 'large binary', 'large utf8', 'large list', 'run-end encoded',
  'binary view', 'utf8 view', 'list view', 'large list view'
]

export const Precision = Object.freeze({ half: 0, single: 1, double: 2 })
/** Arrow's time units in the order of their numbers. */
export const TIME_UNITS = /** @type {const} */ (['s', 'ms', 'us', 'ns'])

/**
 * Schema metadata that makes an Arrow stream a Sluice batch; all values are text. Only a batch with identity has `gateway`, `epoch`,
 * `before` and `seq`. `before` and `seq` have sixteen decimal digits, so that they can be set in place; `tags` is a JSON object of strings,
 * `ancestors` a JSON array of {epoch, seq, hash}. A field's unit is its metadata `unit`; a column
 * of a tag has its name in `sluice.tag`, and the column of the rows' ordinals `sluice.ordinal`.
 */
export const Key = Object.freeze({
  gateway: 'sluice.gateway',
  source: 'sluice.source',
  epoch: 'sluice.epoch',
  tags: 'sluice.tags',
  ancestors: 'sluice.ancestors',
  before: 'sluice.before',
  seq: 'sluice.seq',
  unit: 'unit',
  tag: 'sluice.tag',
  ordinal: 'sluice.ordinal'
})
export const DIGITS = 16
/** From the first digit of `seq` to the end of the schema's metadata: Sluice writes it last, aligned to eight. */
export const SEQ_TAIL_BYTES = 24
/** From the first digit of `before`, which is written just before `seq`. */
export const BEFORE_TAIL_BYTES = 88

/** @param {string} what @param {unknown} [cause] */
export function arrowError (what, cause) {
  return new SluiceError('SLUICE_CODEC_ARROW', `Arrow stream: ${what}.`, { cause })
}

/** @param {number} length */
export function padded (length) {
  return Math.ceil(length / 8) * 8
}
