import { setTimeout as delay } from 'node:timers/promises'

/**
 * @typedef {object} Clock  what a source needs of time; tests bring their own
 * @property {() => bigint} nowNs
 * @property {(ms: number, run: () => void) => () => void} every  calls again and again, until the function it returns is called
 * @property {(ms: number, signal?: AbortSignal) => Promise<void>} sleep  ends early, without an error, when the signal fires
 */

// The wall clock is read once: setting it later moves no sample back in time.
const wallMinusMonotonicNs = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)) - process.hrtime.bigint()

/** Nanoseconds since 1970 UTC, from the monotonic clock: never goes backwards while the process lives. */
export function nowNs () {
  return wallMinusMonotonicNs + process.hrtime.bigint()
}

/** @type {Clock} */
export const systemClock = {
  nowNs,
  every (ms, run) {
    const timer = setInterval(run, ms)
    return () => clearInterval(timer)
  },
  async sleep (ms, signal) {
    try {
      await delay(ms, undefined, { signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }
}
