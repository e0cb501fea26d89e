import { recordBatches } from './record-batch.js'

/**
 * What a broker gives to those who ask for what is committed has what was undone in it, too, and a list of such transactions.
 *
 * @typedef {import('./group.js').KafkaMessage} KafkaMessage
 * @typedef {import('./record-batch.js').RecordBatch} RecordBatch
 */

/** The type of a control record that ends what is undone, in its key after two bytes of version. */
const ABORT = 0

/**
 * The batches of an answer, in their order, with what reads their messages: none of what was undone, or of control.
 * @param {Pick<import('./fetch.js').Fetched, 'records'|'abortedTransactions'>} answer  of a partition
 * @returns {Generator<{batch: RecordBatch, messages: () => KafkaMessage[]}, void, void>}
 */
export function * committed ({ records, abortedTransactions }) {
  const waiting = (abortedTransactions ?? []).toSorted((a, b) => Number(a.firstOffset - b.firstOffset))
  /** Producers, up to their control record. @type {Set<bigint>} */
  const aborted = new Set()
  for (const batch of recordBatches(records)) {
    const { isControl, isSound, isTransactional, next, producerId } = batch
    while (waiting.length > 0 && waiting[0].firstOffset < next) aborted.add(/** @type {any} */ (waiting.shift()).producerId)
    if (isControl && isSound && batch.messages()[0]?.key?.readInt16BE(2) === ABORT) aborted.delete(producerId)
    const isHidden = isSound && (isControl || (isTransactional && aborted.has(producerId)))
    yield { batch, messages: () => isHidden ? [] : batch.messages() }
  }
}
