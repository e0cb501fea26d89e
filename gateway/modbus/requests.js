import { planReads, splitBlock } from './plan.js'

/**
 * @typedef {import('./poller.js').PolledTag} PolledTag
 * @typedef {import('./plan.js').Block<PolledTag> & {refusals?: number}} Block  `refusals`: polls in which the device refused it and each of
 *   its parts
 * @typedef {import('./device.js').Device} Device
 * @typedef {{block: Block, values: ArrayLike<number>}} Reply
 * @typedef {{block: Block, error: any}} Failure  of a request
 */

/** Exceptions that say that the range is the matter: illegal address, illegal value. */
const RANGE_EXCEPTIONS = [2, 3]

/**
 * Reads tags in the fewest requests. A request that the device refuses for its range is split until all that can be read is read; what
 * proved itself is kept for the next time.
 */
export class Requests {
  /** sent so far @type {number} */
  sent = 0
  /** @type {Block[]} */
  #blocks
  #device
  #atATime
  #onSplit

  /**
   * @param {PolledTag[]} tags
   * @param {object} options
   * @param {Device} options.device
   * @param {number} options.atATime  requests to have under way
   * @param {(block: Block, parts: Block[]) => void} options.onSplit
   */
  constructor (tags, { device, atATime, onSplit }) {
    this.#device = device
    this.#atATime = atATime
    this.#onSplit = onSplit
    this.#blocks = planReads(tags, device.limits)
  }

  /** In one poll, as long as nothing is refused. */
  get count () { return this.#blocks.length }

  /**
   * Reads all once. Never rejects. Once the signal fires it asks nothing more, and what it resolves to is incomplete.
   * @param {AbortSignal} signal
   * @returns {Promise<(Reply|Failure)[]>}
   */
  async read (signal) {
    const blocks = this.#blocks
    /** @type {(Reply|Failure)[][]} */
    const outcomes = new Array(blocks.length)
    let next = 0
    const lane = async () => {
      while (next < blocks.length && !signal.aborted) {
        const index = next++
        outcomes[index] = await this.#readBlock(blocks[index])
      }
    }
    await Promise.all(Array.from({ length: Math.min(this.#atATime, blocks.length) }, lane))
    if (!signal.aborted && outcomes.some(outcome => outcome.length > 1)) this.#blocks = outcomes.flatMap(parts => parts.map(({ block }) => block))
    return outcomes.flat()
  }

  /** One outcome, or those of the parts it is to be read in from now on. @param {Block} block @returns {Promise<(Reply|Failure)[]>} */
  async #readBlock (block) {
    const outcome = await this.#request(block)
    if (!('error' in outcome) || !RANGE_EXCEPTIONS.includes(outcome.error.details?.exception)) return [outcome]
    block.refusals = (block.refusals ?? 0) + 1
    const parts = isPowerOfTwo(block.refusals) ? splitBlock(block) : null
    if (!parts) return [outcome]
    const outcomes = [...await this.#readBlock(parts[0]), ...await this.#readBlock(parts[1])]
    if (outcomes.every(part => 'error' in part)) return [outcome]
    this.#onSplit(block, outcomes.map(part => part.block))
    return outcomes
  }

  /** @param {Block} block @returns {Promise<Reply|Failure>} */
  async #request (block) {
    this.sent++
    try {
      return { block, values: await this.#device.read(block.area, block.address, block.count) }
    } catch (error) {
      return { block, error }
    }
  }
}

/**
 * A device that refuses everything, as some do while they start, is tried in parts again and again, less and less often.
 * @param {number} number
 */
function isPowerOfTwo (number) {
  return (number & number - 1) === 0
}
