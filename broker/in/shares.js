/** @typedef {{expected: number, wish: number}} Claim  what is on its way to one, and how much more it could have */

/**
 * Shares room: each has as much of it as any other, what is on its way included, and what one does not need is for the others. Where it is
 * not enough for all, the first have it.
 * @template {Claim} T
 * @param {T[]} claims
 * @param {number} room  for what is on its way, too
 * @returns {[T, number][]} how much of its wish each has
 */
export function shared (claims, room) {
  const left = Math.max(0, room - sumOf(claims).expected)
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

/** @param {Claim[]} claims @returns {Claim} */
export function sumOf (claims) {
  return { expected: total(claims.map(({ expected }) => expected)), wish: total(claims.map(({ wish }) => wish)) }
}

/** @param {number[]} numbers */
function total (numbers) { return numbers.reduce((sum, number) => sum + number, 0) }
