import { nowNs, wallClock } from '../clock/system-clock.js'
import { unsynchronised } from '../clock/restamper.js'

/**
 * What is read of a message; where rows of it get the time of now while the machine's clock is not set, it is marked like samples that
 * cannot wait for that.
 * @typedef {{batches: import('../batch/batch.js').Batch[], refused: import('./payload.js').Refused[]}} Taken
 * @param {(now: () => bigint) => Taken} read
 * @returns {Taken}
 */
export function marked (read) {
  let isStamped = false
  const taken = read(() => {
    isStamped = true
    return nowNs()
  })
  return isStamped && wallClock.state !== 'set' ? { ...taken, batches: taken.batches.map(unsynchronised) } : taken
}
