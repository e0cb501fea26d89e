const NS_PER_MS = 1_000_000n

/** A clock that stands still until a test moves it; whoever sleeps moves it to the end of the sleep at once. */
export class ManualClock {
  /** @type {{ms: number, run: () => void, next: bigint}[]} */
  #repeated = []

  constructor (ns = 1_700_000_000_000_000_000n) {
    this.ns = ns
  }

  nowNs = () => this.ns

  /** @param {number} ms @param {() => void} run */
  every = (ms, run) => {
    const entry = { ms, run, next: this.ns + BigInt(ms) * NS_PER_MS }
    this.#repeated.push(entry)
    return () => { this.#repeated = this.#repeated.filter(other => other !== entry) }
  }

  /** @param {number} ms */
  sleep = async ms => {
    await new Promise(resolve => setImmediate(resolve))
    this.ns += BigInt(Math.ceil(ms * 1e6))
  }

  /** Moves on, with every call on time. @param {number} ms */
  advance (ms) {
    for (const until = this.ns + BigInt(ms) * NS_PER_MS; this.ns < until;) {
      this.ns += NS_PER_MS
      for (const entry of this.#repeated) {
        if (entry.next > this.ns) continue
        entry.next = this.ns + BigInt(entry.ms) * NS_PER_MS
        entry.run()
      }
    }
  }

  /** Moves on while nothing runs, as when the process is stopped; then comes one late call. @param {number} ms */
  stall (ms) {
    this.ns += BigInt(ms) * NS_PER_MS
    for (const entry of this.#repeated) {
      entry.next = this.ns + BigInt(entry.ms) * NS_PER_MS
      entry.run()
    }
  }
}

/**
 * What a source is given in tests, and what it gave.
 * @param {ManualClock} [clock]
 */
export function recorder (clock = new ManualClock()) {
  /** @type {import('../../gateway/batch/batch.js').Batch[]} */
  const batches = []
  /** @type {string[]} */
  const warnings = []
  const { promise: ended, resolve } = Promise.withResolvers()
  const recording = {
    clock,
    batches,
    warnings,
    /** resolves to the error the source ended with, or undefined */
    ended,
    isPaused: () => false,
    emit: (/** @type {import('../../gateway/batch/batch.js').Batch} */ batch) => { batches.push(batch) },
    log: { info () {}, warn: (/** @type {string} */ text) => { warnings.push(text) }, error () {} },
    onEnd: resolve,
    /** all rows of all batches, in order */
    rows: () => batches.flatMap(batch => batch.toObjects())
  }
  return recording
}
