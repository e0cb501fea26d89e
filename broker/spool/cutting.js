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
 * A batch as records of a stream, cut where it takes more than a record should. One row is never cut.
 * @param {object} options
 * @param {Batch} options.batch
 * @param {import('./stream.js').Stream} options.stream
 * @param {import('./stream.js').Mark} options.mark  where it begins
 * @param {(batch: Batch) => Uint8Array} options.encode
 * @param {number} options.recordBytes
 * @param {number} options.maxBytes  of all of it
 * @param {Identity['ancestors']} [options.ancestors]
 * @returns {{pieces: Encoded[], end: import('./stream.js').Mark}} and where it ends
 */
export function encodeRecords ({ batch, stream, mark, encode, recordBytes, maxBytes, ancestors }) {
  const { gateway, epoch, source: { name: source } } = stream
  /** @type {Encoded[]} */
  const pieces = []
  let total = 0
  const add = (/** @type {Batch} */ part) => {
    const { seq, rows: before } = mark
    /** @type {Identity} */
    const identity = { gateway, source, epoch, seq, before, rows: part.rows, hash: 0 }
    if (ancestors) identity.ancestors = ancestors
    const payload = encode(part.withIdentity(identity))
    if (payload.length > recordBytes && part.rows > 1) return cut(part, Math.ceil(payload.length / recordBytes)).forEach(add)
    total += payload.length
    if (payload.length > MAX_PAYLOAD_BYTES || total > maxBytes) throw tooBig(source, total)
    const hash = identity.hash = hashOf(payload)
    const end = { seq: seq + 1, rows: before + part.rows, sum: addHashes(mark.sum, hash) }
    pieces.push({ kind: Kind.batch, stream, mark, end, rows: part.rows, hash, payload, identity })
    mark = end
  }
  const bytes = batchBytes(batch)
  if (bytes > recordBytes && batch.rows > 1) cut(batch, Math.ceil(bytes / recordBytes)).forEach(add)
  else add(batch)
  return { pieces, end: mark }
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
