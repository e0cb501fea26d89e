const NS_PER_MS = 1_000_000n

/**
 * Calls `run` at t0 + k · period, t0 being now, until the signal fires: without drift, and never while it still runs. Turns that come due
 * meanwhile are skipped and counted.
 * @param {object} options
 * @param {number} options.periodMs
 * @param {import('../clock/system-clock.js').Clock} options.clock
 * @param {AbortSignal} options.signal
 * @param {(turn: {lateNs: bigint, nextNs: bigint}) => Promise<void>} options.run  `lateNs`: how late it is called;
 *   `nextNs`: when the next turn is due
 * @param {(turns: number) => void} options.onMissed
 */
export async function keepTime ({ periodMs, clock, signal, run, onMissed }) {
  const periodNs = BigInt(periodMs) * NS_PER_MS
  for (let dueNs = clock.nowNs(); !signal.aborted;) {
    await run({ lateNs: clock.nowNs() - dueNs, nextNs: dueNs + periodNs })
    const missed = (clock.nowNs() - dueNs) / periodNs
    if (missed > 0n && !signal.aborted) onMissed(Number(missed))
    dueNs += (missed + 1n) * periodNs
    await sleepUntil(dueNs, clock, signal)
  }
}

/**
 * A timer may end early by less than a millisecond.
 * @param {bigint} ns
 * @param {import('../clock/system-clock.js').Clock} clock
 * @param {AbortSignal} signal
 */
async function sleepUntil (ns, clock, signal) {
  for (let leftNs = ns - clock.nowNs(); leftNs > 0n && !signal.aborted; leftNs = ns - clock.nowNs()) {
    await clock.sleep(Math.ceil(Number(leftNs) / 1e6), signal)
  }
}
