/**
 * Finds the items at fault in a refused list, by halving it: about log2(count) questions for each.
 *
 * `refusal` asks about the items `from` (inclusive) to `to` (exclusive) and gives the error they are refused with, or null. It may ask
 * about them alone, or about all up to `to` without those `found` so far: then, of items that are refused only together, the last one is at
 * fault.
 * @param {number} count  of items that were refused together
 * @param {(from: number, to: number, found: ReadonlyMap<number, unknown>) => Promise<unknown>} refusal
 * @returns {Promise<Map<number, unknown>>} the error of each item at fault, in order; empty when there is none any more
 */
export async function isolate (count, refusal) {
  /** @type {Map<number, unknown>} */
  const found = new Map()

  /**
   * @param {number} from
   * @param {number} to
   * @param {boolean} expectRefusal  what follows from other answers is not asked; but no item is at fault unasked
   * @returns {Promise<boolean>} whether all of them are good
   */
  const search = async (from, to, expectRefusal) => {
    const isSingle = to - from === 1
    if (isSingle || !expectRefusal) {
      const error = await refusal(from, to, found)
      if (error === null) return true
      if (isSingle) {
        found.set(from, error)
        return false
      }
    }
    const middle = (from + to) >>> 1
    const isLeftGood = await search(from, middle, false)
    await search(middle, to, isLeftGood)
    return false
  }

  if (count > 0) await search(0, count, true)
  return found
}
