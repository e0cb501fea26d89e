/**
 * How the bytes of a value lie in its registers, A being the most significant: `CDAB` has the registers in reverse, `BADC` the two bytes of
 * each register, `DCBA` both.
 * It is so for one register (`BADC` and `DCBA` give BA) and for four (`CDAB` gives GHEFCDAB, `BADC` BADCFEHG, `DCBA` HGFEDCBA).
 *
 * @typedef {'ABCD'|'CDAB'|'BADC'|'DCBA'} Order
 */

/** @type {Order[]} */
export const ORDERS = ['ABCD', 'CDAB', 'BADC', 'DCBA']

/** The value at work, most significant byte first. */
export const bytes = new DataView(new ArrayBuffer(8))

/**
 * Copies between registers and `bytes`.
 * @param {number} words  registers of the value, at most four
 * @param {Order} order
 */
export function mover (words, order) {
  const swapped = swapsBytes(order)
  const reversed = order === 'CDAB' || order === 'DCBA'
  const places = Array.from({ length: words }, (_, word) => 2 * (reversed ? words - 1 - word : word))
  return {
    /** @param {ArrayLike<number>} registers @param {number} at */
    load (registers, at) {
      for (let word = 0; word < words; word++) bytes.setUint16(places[word], registers[at + word], swapped)
    },
    store () {
      return Uint16Array.from(places, place => bytes.getUint16(place, swapped))
    }
  }
}

/** @param {Order} order */
export function swapsBytes (order) {
  return order === 'BADC' || order === 'DCBA'
}
