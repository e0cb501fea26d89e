import { SluiceError, describe } from '../../gateway/base/errors.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/messages/refusals.js').Refused & {isOfSpool?: boolean}} Refused  `isOfSpool`: no spool accepts it
 * @typedef {{batches: Batch[], refused: Refused[]}} Content  of a message: what is still to be done with it
 */

/** Errors that pass: what meets another, such as one of encoding, would meet it again for ever. */
const FOR_NOW = ['SLUICE_SPOOL_FULL', 'SLUICE_SPOOL_CLOSED', 'SLUICE_SPOOL_OPEN']

/**
 * Takes the batches of a message out of its content, one after the other, once each is in the spool; those that no spool will ever accept
 * become one refused value, the message. When it fails, it can be called again.
 * @param {Content} content
 * @param {(batch: Batch) => Promise<unknown>} append  to the spool
 * @param {Uint8Array} message
 */
export async function spoolAll ({ batches, refused }, append, message) {
  while (batches.length > 0) {
    try {
      await append(batches[0])
    } catch (error) {
      if (error instanceof SluiceError && FOR_NOW.includes(error.code)) throw error
      const last = refused.at(-1)
      if (last?.isOfSpool) last.count = (last.count ?? 1) + 1
      else refused.push({ index: -1, reason: describe(error), value: message, count: 1, isOfSpool: true })
    }
    batches.shift()
  }
}
