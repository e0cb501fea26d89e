import { setTimeout as sleep } from 'node:timers/promises'

const FIRST_WAIT_MS = 200
const MAX_WAIT_MS = 10_000

/**
 * Does something until it succeeds, waiting longer after each failure.
 * @param {() => Promise<void>} work
 * @param {{goesOn: () => boolean, onError: (error: unknown) => void}} options  `goesOn`: false ends it, whether it has succeeded or not
 */
export async function again (work, { goesOn, onError }) {
  for (let waitMs = FIRST_WAIT_MS; goesOn(); waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      return await work()
    } catch (error) {
      onError(error)
      await sleep(waitMs)
    }
  }
}
