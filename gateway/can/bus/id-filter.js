import { SluiceError } from '../../base/errors.js'

/**
 * Which identifiers are wanted, as a user writes it: `123, 200-2FF, 18FEF100x, 7E8:7F8`. Hexadecimal; up to three digits are an 11-bit
 * identifier, more or an `x` at the end a 29-bit one. A range includes both ends. After a colon stands a mask: of the identifier's bits,
 * those that must be equal.
 *
 * @typedef {{id: number, mask: number}} KernelFilter  as of linux/can.h: wanted where (received & mask) === (id & mask), the flags of the
 *   identifier included
 * @typedef {object} IdFilter
 * @property {(id: number, extended: boolean) => boolean} wants
 * @property {KernelFilter[]|null} kernel  the same for SocketCAN; null where it takes more of them than a socket can have
 */

const MAX_KERNEL_FILTERS = 512
const EXTENDED_FLAG = 0x80000000
const ENTRY = /^([0-9A-Fa-f]{1,8})(x?)(?:([-:])([0-9A-Fa-f]{1,8})(x?))?$/

/**
 * @typedef {{extended: boolean, low: number, high: number, mask: number}} Entry  a range, or with `mask` not -1 one identifier under a mask
 */

/**
 * @param {string} text  entries, separated by commas or spaces
 * @returns {IdFilter|null} null where it is empty: all are wanted
 * @throws {SluiceError} SLUICE_CAN_FILTER
 */
export function parseIdFilter (text) {
  const entries = text.split(/[\s,;]+/).filter(word => word !== '').map(parseEntry)
  if (entries.length === 0) return null
  const kernel = entries.flatMap(kernelFilters)
  return {
    wants: (id, extended) => entries.some(entry => entry.extended === extended && isIn(entry, id)),
    kernel: kernel.length <= MAX_KERNEL_FILTERS ? kernel : null
  }
}

/**
 * What passes any of several filters, for the kernel; null: it cannot select what is wanted.
 * @param {(IdFilter|null)[]} filters
 * @returns {KernelFilter[]|null}
 */
export function unionOf (filters) {
  const kernel = filters.map(filter => filter?.kernel ?? null)
  if (kernel.length === 0 || kernel.includes(null)) return null
  const all = /** @type {KernelFilter[][]} */ (kernel).flat()
  return all.length <= MAX_KERNEL_FILTERS ? all : null
}

/** @param {string} word @returns {Entry} */
function parseEntry (word) {
  const match = ENTRY.exec(word)
  if (!match) throw misuse(word, 'is not an identifier, range or mask')
  const [, first, firstMark, kind, second = '', secondMark = ''] = match
  const extended = firstMark !== '' || secondMark !== '' || first.length > 3 || second.length > 3
  const highest = extended ? 0x1FFFFFFF : 0x7FF
  const low = parseInt(first, 16)
  const other = kind ? parseInt(second, 16) : low
  if (low > highest || (kind === '-' && other > highest)) throw misuse(word, `exceeds ${extended ? 29 : 11} bits`)
  if (kind === ':') return { extended, low, high: low, mask: other & highest }
  if (other < low) throw misuse(word, 'ends before it begins')
  return { extended, low, high: other, mask: -1 }
}

/** @param {Entry} entry @param {number} id */
function isIn ({ low, high, mask }, id) {
  return mask === -1 ? id >= low && id <= high : ((id ^ low) & mask) === 0
}

/** @param {Entry} entry @returns {KernelFilter[]} */
function kernelFilters ({ extended, low, high, mask }) {
  const highest = extended ? 0x1FFFFFFF : 0x7FF
  const flag = extended ? EXTENDED_FLAG : 0
  const filter = (/** @type {number} */ id, /** @type {number} */ bits) => ({ id: (id | flag) >>> 0, mask: (bits | EXTENDED_FLAG) >>> 0 })
  if (mask !== -1) return [filter(low, mask)]
  const filters = []
  // A range is as many blocks as its ends need: each is a power of two long and begins at a multiple of its length.
  for (let at = low; at <= high;) {
    let size = at === 0 ? highest + 1 : at & -at
    while (at + size - 1 > high) size /= 2
    filters.push(filter(at, highest - size + 1))
    at += size
  }
  return filters
}

/** @param {string} word @param {string} what */
function misuse (word, what) {
  return new SluiceError('SLUICE_CAN_FILTER', `The identifier filter "${word}" ${what}.`, {
    fix: 'Write for example 123, 200-2FF, 18FEF100x, 7E8:7F8.'
  })
}
