import { SluiceError } from '../base/errors.js'
import { toBatches } from './dead-letter.js'

const PAGE = 1000

/**
 * Gives the rows of dead letters to whoever stores them anew, and takes them off the list once they are accepted.
 * @param {import('./queue.js').DeadLetterQueue} deadLetters
 * @param {string[]|null} keys  null for all there are now
 * @param {(batch: import('../batch/batch.js').Batch) => Promise<unknown>} accept  a batch without identity; resolves once its rows are safe
 * @returns {Promise<{replayed: number}>} in rows. Rejects with SLUICE_DEAD_LETTER_UNKNOWN before any is given away, or what `accept` says:
 *   what was accepted until then is off the list
 */
export async function replay (deadLetters, keys, accept) {
  const all = deadLetters.keys
  const wanted = new Set(keys ?? all)
  const known = new Set(all)
  const unknown = [...wanted].filter(key => !known.has(key))
  if (unknown.length > 0) {
    throw new SluiceError('SLUICE_DEAD_LETTER_UNKNOWN', `There is no dead letter "${unknown[0]}"${unknown.length > 1 ? `, nor ${unknown.length - 1} of the others` : ''}.`, {
      fix: 'It may have been replayed already; nothing was done.'
    })
  }
  const inOrder = all.filter(key => wanted.has(key))
  for (let i = 0; i < inOrder.length; i += PAGE) {
    const letters = await Promise.all(inOrder.slice(i, i + PAGE).map(key => deadLetters.get(key)))
    for (const { batch, keys: accepted } of toBatches(letters.filter(letter => letter !== undefined))) {
      await accept(batch)
      await deadLetters.replayed(accepted)
    }
  }
  return { replayed: inOrder.length }
}
