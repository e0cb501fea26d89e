import { setImmediate as settled } from 'node:timers/promises'

const NS_PER_MS = 1_000_000n

/** A clock that a test moves, and that wakes each sleeper exactly when its time has come. */
export class VirtualClock {
  startNs = 1_700_000_000_000_000_000n
  ns = this.startNs
  /** @type {{atNs: bigint, wake: () => void}[]} */
  #sleepers = []

  nowNs = () => this.ns

  /** @returns {never} */
  every = () => { throw new Error('Nobody needs this.') }

  /** @param {number} ms @param {AbortSignal} [signal] @returns {Promise<void>} */
  sleep = (ms, signal) => new Promise(resolve => {
    this.#sleepers.push({ atNs: this.ns + BigInt(Math.round(ms * 1e6)), wake: resolve })
    signal?.addEventListener('abort', () => resolve())
  })

  /** Moves on, with every sleeper woken in time. @param {number} ms */
  async advance (ms) {
    const until = this.ns + BigInt(ms) * NS_PER_MS
    for (await settled(); ; await settled()) {
      const [next] = this.#sleepers.sort((a, b) => Number(a.atNs - b.atNs))
      if (!next || next.atNs > until) break
      this.#sleepers.shift()
      if (next.atNs > this.ns) this.ns = next.atNs
      next.wake()
    }
    this.ns = until
  }

  /** Moves on while nothing runs, as when the process is stopped. @param {number} ms */
  stall (ms) {
    this.ns += BigInt(ms) * NS_PER_MS
  }

  /** @param {bigint} ns */
  msSinceStart (ns) {
    return Number(ns - this.startNs) / 1e6
  }
}
