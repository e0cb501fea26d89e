import { FIRST_TICK, LAST_TICK } from './connection.js'

/**
 * Points in the order of time, of a server that answers series by series.
 *
 * @typedef {import('./connection.js').Warp10Server} Warp10Server
 * @typedef {import('./points.js').Point} Point
 * @typedef {{from?: bigint, to?: bigint, signal?: AbortSignal}} Ticks  both included
 */

/** How many points are held at a time, unless one tick has more. */
const MOST_POINTS = 50_000

/** How many are read to find the oldest of them. */
const FEW_POINTS = 1000

/** The tick of the newest point; null where there is none. @param {Warp10Server} server @param {string} selector @param {Ticks} [ticks] */
export async function lastTick (server, selector, ticks) {
  /** @type {bigint|null} */
  let last = null
  for await (const { tick } of server.points({ selector, ...ticks, count: 1 })) if (last === null || tick > last) last = tick
  return last
}

/**
 * The tick of the oldest one. The server begins with the newest, so it is looked for in halves, until there are few.
 * @param {Warp10Server} server
 * @param {string} selector
 * @param {Ticks} [ticks]
 * @returns {Promise<bigint|null>}
 */
export async function firstTick (server, selector, { from = FIRST_TICK, to = LAST_TICK, signal } = {}) {
  let isWhole = true
  for (let [low, high] = [from, to]; low <= high;) {
    const middle = isWhole ? high : (low + high) >> 1n
    const points = await upTo(FEW_POINTS, server.points({ selector, from: low, to: middle, signal }), low === middle)
    if (points !== null && points.length > 0) return points.reduce((least, { tick }) => tick < least ? tick : least, LAST_TICK)
    if (points !== null) low = middle + 1n
    else high = middle
    isWhole = false
  }
  return null
}

/**
 * @param {Warp10Server} server
 * @param {string} selector
 * @param {Required<Omit<Ticks, 'signal'>> & {signal?: AbortSignal}} ticks
 * @returns {AsyncGenerator<Point, void, void>} in the order of time
 */
export async function * pointsInOrder (server, selector, { from, to, signal }) {
  const whole = await upTo(MOST_POINTS, server.points({ selector, from, to, signal }), from === to)
  if (whole !== null) return yield * whole.sort(byTime)
  const first = await firstTick(server, selector, { from, to, signal }) ?? from
  const last = await lastTick(server, selector, { from, to, signal }) ?? to
  let width = last - first + 1n
  for (let at = first; at <= last;) {
    const end = at + width - 1n < last ? at + width - 1n : last
    const points = await upTo(MOST_POINTS, server.points({ selector, from: at, to: end, signal }), end === at)
    if (points === null) {
      width = (end - at + 1n) / 2n
      continue
    }
    yield * points.sort(byTime)
    at = end + 1n
    if (points.length < MOST_POINTS / 4) width *= 2n
  }
}

/** @param {Point} a @param {Point} b */
function byTime (a, b) {
  return a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0
}

/** Null where there are more. @param {number} most @param {AsyncGenerator<Point>} points @param {boolean} isAll  however many there are */
async function upTo (most, points, isAll) {
  const found = []
  for await (const point of points) {
    if (found.length >= most && !isAll) return null
    found.push(point)
  }
  return found
}
