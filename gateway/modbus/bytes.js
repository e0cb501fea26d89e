/**
 * The order of a value's bytes in its registers, A being the most significant: `CDAB` reverses the registers, `BADC` swaps the two bytes of
 * each register, `DCBA` does both. The same holds for one register (`BADC` and `DCBA` give BA) and for four (`CDAB` gives GHEFCDAB, `BADC`
 * BADCFEHG, `DCBA` HGFEDCBA).
 *
 * @typedef {'ABCD'|'CDAB'|'BADC'|'DCBA'} Order
 */

/** @type {Order[]} */
export const ORDERS = ['ABCD', 'CDAB', 'BADC', 'DCBA']

/** The value being converted, most significant byte first. */
export const bytes = new DataView(new ArrayBuffer(8))

/**
 * Copies between registers and `bytes`.
 * @param {number} words  registers of the value, at most four
 * @param {Order} order
 */
export function mover (words, order) {
  const swapped = swapsBytes(order)
  const reversed = order === 'CDAB' || order === 'DCBA'
  const offsets = Array.from({ length: words }, (_, word) => 2 * (reversed ? words - 1 - word : word))
  return {
    /** @param {ArrayLike<number>} registers @param {number} at */
    load (registers, at) {
      for (let word = 0; word < words; word++) bytes.setUint16(offsets[word], registers[at + word], swapped)
    },
    store () {
      return Uint16Array.from(offsets, offset => bytes.getUint16(offset, swapped))
    }
  }
}

/** @param {Order} order */
export function swapsBytes (order) {
  return order === 'BADC' || order === 'DCBA'
}
