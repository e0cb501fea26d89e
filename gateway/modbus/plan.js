import { isBits } from './wire/pdu.js'

/**
 * @typedef {{area: import('./wire/pdu.js').Area, address: number, count: number}} Span
 *
 * @typedef {object} Limits
 * @property {number} maxRegisters
 * @property {number} maxBits
 * @property {number} maxGapRegisters  unused ones read to save a request
 * @property {number} maxGapBits
 */

/**
 * One request, and what it reads.
 * @template {Span} T
 * @typedef {Span & {tags: T[]}} Block
 */

/**
 * The fewest requests that read all tags: none longer than the limits, no gap longer than they allow, no tag split. Tags may overlap.
 *
 * Adding tags in order of address, each to the last request if it fits there, gives the fewest: one that does not fit needs another
 * request, and any later tag that would fit into the previous request fits into that one as well.
 * @template {Span} T
 * @param {T[]} tags  none longer than the limits
 * @param {Limits} limits
 * @returns {Block<T>[]}
 */
export function planReads (tags, limits) {
  /** @type {Block<T>[]} */
  const blocks = []
  const inOrder = [...tags].sort((a, b) => a.area.localeCompare(b.area) || a.address - b.address || a.count - b.count)
  for (const tag of inOrder) {
    const block = blocks.at(-1)
    if (block && fits(block, tag, limits)) {
      block.tags.push(tag)
      block.count = Math.max(block.count, tag.address + tag.count - block.address)
    } else {
      blocks.push(blockOf([tag]))
    }
  }
  return blocks
}

/**
 * Splits a block that a device refuses in two: at its widest gap, which most likely contains the missing address; without a gap, as near to
 * the middle as its tags allow. Null where it cannot be split.
 * @template {Span} T
 * @param {Block<T>} block
 * @returns {[Block<T>, Block<T>]|null}
 */
export function splitBlock ({ address, count, tags }) {
  const middle = address + count / 2
  let best = 0
  let widest = -1
  let nearest = Infinity
  let end = tags[0].address + tags[0].count
  for (let i = 1; i < tags.length; i++) {
    const gap = Math.max(0, tags[i].address - end)
    const distance = Math.abs(tags[i].address - middle)
    if (gap > widest || (gap === widest && distance < nearest)) [best, widest, nearest] = [i, gap, distance]
    end = Math.max(end, tags[i].address + tags[i].count)
  }
  return best === 0 ? null : [blockOf(tags.slice(0, best)), blockOf(tags.slice(best))]
}

/** @param {Span} block @param {Span} tag @param {Limits} limits */
function fits (block, tag, { maxRegisters, maxBits, maxGapRegisters, maxGapBits }) {
  if (tag.area !== block.area) return false
  const [maxCount, maxGap] = isBits(block.area) ? [maxBits, maxGapBits] : [maxRegisters, maxGapRegisters]
  return tag.address - (block.address + block.count) <= maxGap && tag.address + tag.count - block.address <= maxCount
}

/** @template {Span} T @param {T[]} tags  by address @returns {Block<T>} */
function blockOf (tags) {
  const { area, address } = tags[0]
  return { area, address, tags, count: Math.max(...tags.map(tag => tag.address + tag.count)) - address }
}
