import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long to wait before the next attempt: `first`, doubled each time, at most `max`, in whatever unit these are.
 * @param {number} attempt  0 after the first failure
 * @param {{first: number, max: number, jitter?: number, random?: () => number}} options  `jitter`: the share of the wait that is random;
 *   1 is full jitter
 */
export function backoff (attempt, { first, max, jitter = 0, random = Math.random }) {
  return Math.min(max, first * 2 ** attempt) * (1 - jitter * random())
}

/**
 * Does something until it succeeds, waiting longer after each failure.
 * @template T
 * @param {() => boolean} isWanted  false ends it, whether it has succeeded or not
 * @param {() => Promise<T>} work
 * @param {(error: unknown) => void} onError
 * @returns {Promise<T|undefined>}
 */
export async function retryWhile (isWanted, work, onError) {
  for (let attempt = 0; isWanted(); attempt++) {
    try {
      return await work()
    } catch (error) {
      onError(error)
      await sleep(backoff(attempt, { first: 200, max: 10_000 }))
    }
  }
}
