const DEFAULT_GAP_NS = 1_000_000n
/** 146 years: longer than any wait. */
const MAX_NS = 2 ** 62
const MAX_SLEEP_MS = 1000
const NS_PER_DAY = 86_400_000_000_000n

/**
 * The pace of a recording: when each of its rows plays, as far from the first as recorded or as `speed` has it, and waiting until then.
 * Each round continues the last. While it is paused it stands still.
 */
export class Pace {
  #speed
  #clock
  #closing
  #tickMs
  #isPaused
  #roundStartNs
  /** @type {bigint|null} */
  #firstRecordedNs = null
  #latestNs
  /** When the row that is waited for plays. */
  #dueNs = 0n

  /**
   * @param {object} options
   * @param {number} options.speed  2 plays twice as fast; 0 waits for no row, and keeps the distances of the recording, as 1 does
   * @param {bigint} options.startNs  when the first row plays, since 1970
   * @param {import('../../clock/system-clock.js').Clock} options.clock
   * @param {AbortSignal} options.closing  ends every wait
   * @param {number} options.tickMs  shortest wait
   * @param {() => boolean} options.isPaused
   */
  constructor ({ speed, startNs, clock, closing, tickMs, isPaused }) {
    this.#speed = speed
    this.#clock = clock
    this.#closing = closing
    this.#tickMs = tickMs
    this.#isPaused = isPaused
    this.#roundStartNs = startNs
    this.#latestNs = startNs
  }

  /** When a row plays. @param {bigint} recordedNs  its time in the recording */
  at (recordedNs) {
    this.#firstRecordedNs ??= recordedNs
    const sinceFirstNs = recordedNs - this.#firstRecordedNs
    const ns = this.#roundStartNs + this.#played(sinceFirstNs)
    if (ns > this.#latestNs) this.#latestNs = ns
    return ns
  }

  /** @param {bigint} recordedNs */
  isDue (recordedNs) {
    return this.#speed === 0 || this.at(recordedNs) <= this.#clock.nowNs()
  }

  /** Passes on, tick by tick, what is due, until a row is. @param {bigint} recordedNs @param {() => Promise<void>} passOn */
  async waitFor (recordedNs, passOn) {
    while (!this.#closing.aborted) {
      await passOn()
      this.#dueNs = this.at(recordedNs)
      const waitNs = this.#dueNs - this.#clock.nowNs()
      if (waitNs <= 0n) return
      await this.#clock.sleep(Math.min(Math.max(Number(waitNs) / 1e6, this.#tickMs), MAX_SLEEP_MS), this.#closing)
    }
  }

  /** All rows to come play later by the length of the pause: they do not come in a burst. */
  async waitWhilePaused () {
    if (!this.#isPaused()) return
    const pausedNs = this.#clock.nowNs()
    do await this.#clock.sleep(this.#tickMs, this.#closing)
    while (this.#isPaused() && !this.#closing.aborted)
    if (this.#speed === 0) return
    const lengthNs = this.#clock.nowNs() - pausedNs
    this.#roundStartNs += lengthNs
    this.#latestNs += lengthNs
  }

  /** Where the times of a recording jump, as when the clock of its machine was set, nothing may come for years. @param {string} row */
  troubleOf (row) {
    const days = (this.#dueNs - this.#clock.nowNs()) / NS_PER_DAY
    return days > 0n ? `the times jump: the next ${row} plays in ${days} ${days === 1n ? 'day' : 'days'}` : undefined
  }

  /** The next round begins one mean distance of rows after the last row. @param {number} rows  in the round that ends */
  endRound (rows) {
    const gapNs = rows > 1 ? (this.#latestNs - this.#roundStartNs) / BigInt(rows - 1) : 0n
    this.#latestNs = this.#roundStartNs = this.#latestNs + (gapNs > 0n ? gapNs : DEFAULT_GAP_NS)
    this.#firstRecordedNs = null
  }

  /** @param {bigint} recordedNs  a distance in the recording */
  #played (recordedNs) {
    if (this.#speed === 0 || this.#speed === 1) return recordedNs
    return BigInt(Math.min(Math.round(Number(recordedNs) / this.#speed), MAX_NS))
  }
}
