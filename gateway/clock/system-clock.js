import { setTimeout as delay } from 'node:timers/promises'
import { isKernelSynchronised } from './kernel.js'
import { WallClock } from './wall-clock.js'
import { RELEASED } from './release.js'

/**
 * @typedef {object} Clock  what a source needs of time; tests bring their own
 * @property {() => bigint} nowNs
 * @property {(ms: number, run: () => void) => () => void} every  calls again and again, until the function it returns is called
 * @property {(ms: number, signal?: AbortSignal) => Promise<void>} sleep  ends early, without an error, when the signal fires
 */

const NS_PER_MS = 1_000_000n
const RELEASED_NS = BigInt(Date.parse(RELEASED)) * NS_PER_MS

/** The sources' time less the monotonic clock's; undefined until it is first needed. @type {bigint|undefined} */
let sourceOffsetNs

/** Nanoseconds since 1970 UTC that sources stamp by: monotonic, and as far from the wall clock as that has been stepped since the start. */
function sourceNs () {
  const monotonicNs = process.hrtime.bigint()
  sourceOffsetNs ??= anchorNs() - monotonicNs
  return sourceOffsetNs + monotonicNs
}

/** The wall clock is read once: setting it later steps no source. One that was never set shows 1970, which no sample may have. */
function anchorNs () {
  const wallNs = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6))
  return wallNs > RELEASED_NS ? wallNs : RELEASED_NS
}

/**
 * Follows the machine's clock once it is started. In an environment with SLUICE_CLOCK=trusted it is never waited for, as on machines that
 * nothing synchronises.
 */
export const wallClock = new WallClock({
  sourceNs,
  wallNs: () => BigInt(Date.now()) * NS_PER_MS,
  releasedNs: RELEASED_NS,
  isSynchronised: async () => process.env.SLUICE_CLOCK === 'trusted' || isKernelSynchronised()
})

/** Nanoseconds since 1970 UTC by the wall clock, without its steps back: never goes backwards once that is set. */
export function nowNs () {
  return wallClock.line.at(sourceNs())
}

/** @type {Clock} */
export const systemClock = {
  nowNs: sourceNs,
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
