import { SluiceError, describe } from '../../gateway/base/errors.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {{batches: Batch[], refused: Refused[]}} Content  of a message: what is still to be done with it
 */

/** Errors that pass: what meets another, such as one of encoding, would meet it again for ever. */
const FOR_NOW = ['SLUICE_SPOOL_FULL', 'SLUICE_SPOOL_CLOSED', 'SLUICE_SPOOL_OPEN']

/**
 * Takes the batches of a message out of its content once they are in the spool; those that no spool will ever accept become one refused
 * value, the message. All are handed over at once, so that messages go into the spool one after the other. When it fails, it can be called
 * again.
 * @param {Content} content
 * @param {(batch: Batch) => Promise<unknown>} append  to the spool
 * @param {Uint8Array} message
 */
export async function spoolAll ({ batches, refused }, append, message) {
  const tried = await Promise.allSettled(batches.map(append))
  const failed = tried.flatMap((result, i) => result.status === 'rejected' ? [{ error: result.reason, batch: batches[i] }] : [])
  const { forNow = [], forGood = [] } = Object.groupBy(failed, ({ error }) => isForNow(error) ? 'forNow' : 'forGood')
  if (forGood.length > 0) {
    refused.push({ index: -1, reason: describe(forGood[0].error), value: message, count: forGood.length })
  }
  batches.splice(0, batches.length, ...forNow.map(({ batch }) => batch))
  if (forNow.length > 0) throw forNow[0].error
}

/** @param {unknown} error */
function isForNow (error) {
  return error instanceof SluiceError && FOR_NOW.includes(error.code)
}
