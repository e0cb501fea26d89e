/**
 * When to look for the last records of a sink where that takes a query of its own, which before each write would cost much of the
 * throughput: before a duplicate or a clash is reported, since only there is memory trusted, and once a second. What is stored in between
 * in a database that was set back is not lost by it: it is in the next reading, and the records from before it are still looked for.
 */

const CHECK_MS = 1000

export class SeldomCheck {
  #checkedMs = -Infinity

  /** @param {boolean} inAnyCase */
  isDue (inAnyCase) {
    if (!inAnyCase && performance.now() - this.#checkedMs < CHECK_MS) return false
    this.#checkedMs = performance.now()
    return true
  }
}
