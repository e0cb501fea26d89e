/** A finer look at the event loop would wake it up more often. */
const RESOLUTION_MS = 250

/**
 * Measures how long something keeps all else in this process from its turn. Keeps no process alive.
 * @returns {() => number} the longest time since it was asked last, in milliseconds
 */
export function blockedTime () {
  let turnMs = performance.now()
  let longestMs = 0
  setInterval(() => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - turnMs - RESOLUTION_MS)
    turnMs = nowMs
  }, RESOLUTION_MS).unref()
  return () => {
    const sinceMs = longestMs
    longestMs = 0
    return sinceMs
  }
}
