import { nowNs, wallClock } from '../clock/system-clock.js'
import { unsynchronised } from '../clock/restamper.js'

/**
 * Reads a message; where rows of it are stamped with the present time while the machine's clock is not set, they are marked like samples
 * that cannot wait for it.
 * @typedef {{batches: import('../batch/batch.js').Batch[], refused: import('./payload.js').Refused[]}} Converted
 * @param {(now: () => bigint) => Converted} read
 * @returns {Converted}
 */
export function marked (read) {
  let isStamped = false
  const converted = read(() => {
    isStamped = true
    return nowNs()
  })
  return isStamped && wallClock.state !== 'set' ? { ...converted, batches: converted.batches.map(unsynchronised) } : converted
}
