/**
 * What a broker gives to those who ask for what is committed has what was undone in it, too, and a list of such transactions.
 *
 * @typedef {import('@platformatic/kafka').RecordsBatch} RecordsBatch
 */

const IS_TRANSACTIONAL = 0x10
const IS_CONTROL = 0x20
/** The type of a control record that ends what is undone, in its key after two bytes of version. */
const ABORT = 0

/**
 * The batches of an answer, in their order, with the offset after them; none of the records of what was undone, or of control.
 * @param {{records?: RecordsBatch[]|null, abortedTransactions: {producerId: bigint, firstOffset: bigint}[]|null}} answer  of a partition
 * @returns {Generator<{batch: RecordsBatch, records: RecordsBatch['records'], next: bigint}, void, void>}
 */
export function * committed ({ records: batches, abortedTransactions }) {
  const waiting = (abortedTransactions ?? []).toSorted((a, b) => Number(a.firstOffset - b.firstOffset))
  /** Producers, up to their control record. @type {Set<bigint>} */
  const aborted = new Set()
  for (const batch of batches ?? []) {
    const { firstOffset, lastOffsetDelta, attributes, producerId, records } = batch
    const next = firstOffset + BigInt(lastOffsetDelta) + 1n
    while (waiting.length > 0 && waiting[0].firstOffset < next) aborted.add(/** @type {any} */ (waiting.shift()).producerId)
    if (attributes & IS_CONTROL && records[0]?.key?.readInt16BE(2) === ABORT) aborted.delete(producerId)
    const isHidden = attributes & IS_CONTROL || (attributes & IS_TRANSACTIONAL && aborted.has(producerId))
    yield { batch, records: isHidden ? [] : records, next }
  }
}
