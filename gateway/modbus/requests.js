import { planReads, splitBlock } from './plan.js'

/**
 * @typedef {import('./poller.js').PolledTag} PolledTag
 * @typedef {import('./plan.js').Block<PolledTag> & {refusals?: number}} Block  `refusals`: polls in which the device refused it and both of
 *   its halves
 * @typedef {import('./device.js').Device} Device
 * @typedef {{block: Block, values: ArrayLike<number>}} Reply
 * @typedef {{block: Block, error: any}} Failure  of a request
 */

/** Exceptions caused by the range: illegal address, illegal value; device failure, as some call a register that cannot be read. */
const RANGE_EXCEPTIONS = [2, 3, 4]

/**
 * Reads tags in the fewest requests. A request that the device refuses for its range is split until all that can be read is read; a split
 * that helped is kept.
 */
export class Requests {
  /** sent so far @type {number} */
  sent = 0
  /** @type {Block[]} */
  #blocks
  #device
  #concurrency
  #onSplit

  /**
   * @param {PolledTag[]} tags
   * @param {object} options
   * @param {Device} options.device
   * @param {number} options.concurrency  requests to have under way
   * @param {(block: Block, blocks: Block[]) => void} options.onSplit
   */
  constructor (tags, { device, concurrency, onSplit }) {
    this.#device = device
    this.#concurrency = concurrency
    this.#onSplit = onSplit
    this.#blocks = planReads(tags, device.limits)
  }

  /** Requests in one poll, as long as nothing is refused. */
  get count () { return this.#blocks.length }

  /**
   * Reads all once. Never rejects. Once the signal fires it sends nothing more, and what it resolves to is incomplete.
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
    await Promise.all(Array.from({ length: Math.min(this.#concurrency, blocks.length) }, lane))
    const all = outcomes.flat()
    if (!signal.aborted && all.length > blocks.length) this.#blocks = all.map(({ block }) => block)
    return all
  }

  /** One outcome, or those of the blocks that replace it from now on. @param {Block} block @returns {Promise<(Reply|Failure)[]>} */
  async #readBlock (block) {
    const outcome = await this.#request(block)
    if (!('error' in outcome) || !RANGE_EXCEPTIONS.includes(outcome.error.details?.exception)) return [outcome]
    block.refusals = (block.refusals ?? 0) + 1
    const halves = isPowerOfTwo(block.refusals) ? splitBlock(block) : null
    if (!halves) return [outcome]
    const outcomes = [...await this.#readBlock(halves[0]), ...await this.#readBlock(halves[1])]
    if (outcomes.every(half => 'error' in half)) return [outcome]
    this.#onSplit(block, outcomes.map(half => half.block))
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
 * A device that refuses everything, as some do while they start, is tried in halves again, less and less often.
 * @param {number} number
 */
function isPowerOfTwo (number) {
  return (number & number - 1) === 0
}
