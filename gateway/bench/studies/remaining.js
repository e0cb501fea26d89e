/** So many seconds of what was planned say little about the pace of this machine. */
const TRUSTED_SECONDS = 30

/** How long several runs still take: as long as was planned, at the pace in which they have come so far. */
export class Remaining {
  #plannedSeconds
  #startedMs
  #now

  /** @param {number[]} plannedSeconds  of each run @param {() => number} [now] */
  constructor (plannedSeconds, now = () => performance.now()) {
    this.#plannedSeconds = plannedSeconds
    this.#now = now
    this.#startedMs = now()
  }

  /** @param {number} run  its index @param {number} secondsLeft  of it, as planned @returns {number} seconds of all */
  of (run, secondsLeft) {
    const left = secondsLeft + sum(this.#plannedSeconds.slice(run + 1))
    const done = sum(this.#plannedSeconds) - left
    const took = (this.#now() - this.#startedMs) / 1000
    return left * (took + TRUSTED_SECONDS) / (done + TRUSTED_SECONDS)
  }
}

/** @param {number[]} numbers */
function sum (numbers) {
  return numbers.reduce((total, number) => total + number, 0)
}
