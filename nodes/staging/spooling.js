import { describe } from '../../gateway/base/errors.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {{batches: Batch[], refused: Refused[]}} Content  of a message
 */

/**
 * What of a message is to go into the spool; the batches whose source has no place there become one refused value, the message.
 * @param {Content} content
 * @param {Set<number>|null} has  which of its batches are there already
 * @param {(source: string) => void} admit  throws where there is no place
 * @param {Uint8Array} message
 */
export function admitted ({ batches, refused }, has, admit, message) {
  /** @type {{batch: Batch, part: number}[]} */
  const parts = []
  /** @type {Refused[]} one at most */
  const without = []
  for (let part = 0; part < batches.length; part++) {
    const batch = batches[part]
    if (has?.has(part)) continue
    try {
      admit(batch.source)
      parts.push({ batch, part })
    } catch (error) {
      const [first] = without
      if (first) first.count = (first.count ?? 1) + 1
      else without.push({ index: -1, reason: describe(error), value: message, count: 1 })
    }
  }
  return { batches: parts, refused: without.length > 0 ? [...refused, ...without] : refused }
}
