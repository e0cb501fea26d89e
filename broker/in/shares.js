/**
 * @typedef {object} Claim
 * @property {number} expected  what is on its way
 * @property {number} wish  how much more there could be
 * @property {number} turn  when it last had something, in an order
 */

/**
 * Shares room: each has as much of it as any other, what is on its way included, and what one does not need is for the others. Where it is
 * not enough for all, those have it that had some longest ago.
 * @template {Claim} T
 * @param {T[]} claims
 * @param {number} room  for what is on its way, too
 * @returns {[T, number][]} how much of its wish each has
 */
export function shared (claims, room) {
  const left = room - sumOf(claims).expected
  if (left <= 0) return []
  claims = claims.toSorted((a, b) => a.turn - b.turn)
  const upTo = (/** @type {number} */ level) => claims.map(({ expected, wish }) => Math.min(wish, Math.max(0, level - expected)))
  let level = 0 // as high as the room allows
  for (let tooHigh = room + 1; tooHigh - level > 1;) {
    const middle = (level + tooHigh) >>> 1
    if (total(upTo(middle)) <= left) level = middle
    else tooHigh = middle
  }
  const shares = upTo(level)
  const next = upTo(level + 1)
  let rest = left - total(shares)
  return claims.map((claim, i) => [claim, next[i] > shares[i] && rest-- > 0 ? next[i] : shares[i]])
}

/** @param {Pick<Claim, 'expected'|'wish'>[]} claims */
export function sumOf (claims) {
  return { expected: total(claims.map(({ expected }) => expected)), wish: total(claims.map(({ wish }) => wish)) }
}

/** @param {number[]} numbers */
function total (numbers) { return numbers.reduce((sum, number) => sum + number, 0) }
