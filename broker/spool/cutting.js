import { addHashes, hashOf } from '../../gateway/batch/hashes.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { batchBytes } from '../../gateway/batch/batch-bytes.js'
import { Kind } from './record.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./segment.js').Piece & {identity: Identity}} Encoded
 */

/** Brokers refuse what is much longer, and it would be sent again and again. */
const MAX_PAYLOAD_BYTES = 2 ** 24

/**
 * Batches as records of a stream, cut where one takes more than a record should. One row is never cut.
 * @param {object} options
 * @param {Batch[]} options.parts
 * @param {import('./stream.js').Stream} options.stream
 * @param {import('./stream.js').Mark} options.mark  where it begins
 * @param {(batch: Batch) => Uint8Array} options.encode
 * @param {number} options.recordBytes
 * @param {number} options.recordRows
 * @param {number} options.maxBytes  of all together
 * @param {Identity['ancestors']} [options.ancestors]
 * @returns {{pieces: Encoded[], end: import('./stream.js').Mark}} and where it ends
 */
export function encodeRecords ({ parts, stream, mark, encode, recordBytes, recordRows, maxBytes, ancestors }) {
  const { gateway, epoch, source: { name: source } } = stream
  /** @type {Encoded[]} */
  const pieces = []
  const firstRow = mark.rows
  let total = 0
  const add = (/** @type {Batch} */ part, /** @type {number} */ bytes) => {
    if (part.rows > 1 && (bytes > recordBytes || part.rows > recordRows)) {
      for (const piece of cut(part, Math.ceil(Math.max(bytes / recordBytes, part.rows / recordRows)))) add(piece, 0)
      return
    }
    const { seq, rows: before } = mark
    /** @type {Identity} */
    const identity = { gateway, source, epoch, seq, before, rows: part.rows, hash: 0 }
    if (ancestors) identity.ancestors = withFirstRow(ancestors, before - firstRow)
    const payload = encode(part.withIdentity(identity))
    if (payload.length > recordBytes && part.rows > 1) return add(part, payload.length)
    total += payload.length
    if (payload.length > MAX_PAYLOAD_BYTES || total > maxBytes) throw tooBig(source, total)
    const hash = identity.hash = hashOf(payload)
    const end = { seq: seq + 1, rows: before + part.rows, sum: addHashes(mark.sum, hash) }
    pieces.push({ kind: Kind.batch, stream, mark, end, rows: part.rows, hash, payload, identity })
    mark = end
  }
  for (const part of parts) add(part, batchBytes(part))
  return { pieces, end: mark }
}

/**
 * The ancestors of a part, of the newest of which it does not have the first row.
 * @param {NonNullable<Identity['ancestors']>} ancestors
 * @param {number} from
 */
function withFirstRow (ancestors, from) {
  const [newest] = ancestors.slice(-1)
  return from === 0 ? ancestors : [...ancestors.slice(0, -1), { ...newest, from }]
}

/**
 * What is written before the records that take another's place: with all of them in the log, that one is replaced.
 * @param {import('./stream.js').Stream} stream
 * @param {import('./stream.js').Mark} mark  where they begin
 * @param {number} count
 * @param {{stream: import('./stream.js').Stream, seq: number}} replaced
 * @returns {import('./segment.js').Piece}
 */
export function noteOf (stream, mark, count, replaced) {
  const payload = Buffer.from(JSON.stringify({ count, replaces: [[replaced.stream.epoch, replaced.seq]] }))
  return { kind: Kind.restaging, stream, mark, end: mark, rows: 0, hash: hashOf(payload), payload }
}

/** @param {Batch} batch @param {number} count  of parts, as equal as can be */
export function cut (batch, count) {
  const parts = Math.min(count, batch.rows)
  return Array.from({ length: parts }, (_, i) => {
    return batch.slice(Math.floor(batch.rows * i / parts), Math.floor(batch.rows * (i + 1) / parts))
  })
}

/** @param {string} source @param {number} bytes */
function tooBig (source, bytes) {
  const message = `A batch of "${source}" takes ${bytes} bytes; a row may take 16 MiB, and a batch no more than a quarter of the spool.`
  return new SluiceError('SLUICE_SPOOL_BATCH_TOO_BIG', message, { fix: 'Make the batch smaller.' })
}
