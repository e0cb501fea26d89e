import { SluiceError, describe } from '../../gateway/base/errors.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/messages/refusals.js').Refused & {isOfSpool?: boolean}} Refused  `isOfSpool`: no spool accepts it
 * @typedef {{batches: Batch[], refused: Refused[]}} Content  of a message: what is still to be done with it
 */

/** Errors that pass: what meets another, such as one of encoding, would meet it again for ever. */
const FOR_NOW = ['SLUICE_SPOOL_FULL', 'SLUICE_SPOOL_CLOSED', 'SLUICE_SPOOL_OPEN']

/**
 * Takes the batches of a message out of its content once they are in the spool, to which they go together, in order; those that no spool
 * will ever accept become one refused value, the message. When it fails, it can be called again.
 * @param {Content} content
 * @param {(batch: Batch) => Promise<unknown>} append  to the spool
 * @param {Uint8Array} message
 */
export async function spoolAll ({ batches, refused }, append, message) {
  const all = batches.splice(0)
  const results = await Promise.allSettled(all.map(async batch => append(batch)))
  const failed = results.flatMap((result, i) => result.status === 'rejected' ? [{ batch: all[i], error: result.reason }] : [])
  const isForNow = (/** @type {unknown} */ error) => error instanceof SluiceError && FOR_NOW.includes(error.code)
  for (const { batch, error } of failed) {
    const last = refused.at(-1)
    if (isForNow(error)) batches.push(batch)
    else if (last?.isOfSpool) last.count = (last.count ?? 1) + 1
    else refused.push({ index: -1, reason: describe(error), value: message, count: 1, isOfSpool: true })
  }
  if (batches.length > 0) throw failed.find(({ error }) => isForNow(error))?.error
}
