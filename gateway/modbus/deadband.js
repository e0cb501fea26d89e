/**
 * @typedef {import('./tags.js').Tag} Tag
 * @typedef {import('./values.js').Cell} Cell
 */

const NS_PER_MS = 1_000_000n

/**
 * Decides which rows of a poll group are sent: those in which a value has changed by more than its deadband since the last row sent, a text
 * or a bool has changed, a value has appeared or disappeared, or a heartbeat is due, to the nearest poll. A group with a tag that has no
 * deadband sends all its rows.
 */
export class Deadband {
  #deadbands
  #heartbeatNs
  /** @type {{ns: bigint, cells: (Cell|undefined)[], quality: string|undefined}|null} */
  #sent = null

  /** @param {Tag[]} tags @param {number} periodMs  from poll to poll */
  constructor (tags, periodMs) {
    const heartbeats = tags.map(({ heartbeatMs }) => heartbeatMs).filter(ms => ms > 0)
    this.#deadbands = tags.map(({ deadband, field }) => deadband !== null && field === 'bool' ? 0 : deadband)
    this.#heartbeatNs = heartbeats.length > 0 ? BigInt(Math.min(...heartbeats)) * NS_PER_MS - BigInt(periodMs) * NS_PER_MS / 2n : null
    this.sendsAll = this.#deadbands.includes(null)
  }

  /**
   * Whether to send the row; if so, the following ones are compared with it.
   * @param {bigint} ns
   * @param {(Cell|undefined)[]} cells
   * @param {string|undefined} quality
   */
  admits (ns, cells, quality) {
    if (this.sendsAll) return true
    const isNews = this.#isNews(ns, cells, quality)
    if (isNews) this.#sent = { ns, cells: [...cells], quality }
    return isNews
  }

  /** @param {bigint} ns @param {(Cell|undefined)[]} cells @param {string|undefined} quality */
  #isNews (ns, cells, quality) {
    const sent = this.#sent
    if (!sent || sent.quality !== quality) return true
    if (this.#heartbeatNs !== null && ns - sent.ns >= this.#heartbeatNs) return true
    return cells.some((cell, i) => hasMoved(cell, sent.cells[i], /** @type {number} */ (this.#deadbands[i])))
  }
}

/** @param {Cell|undefined} now @param {Cell|undefined} then @param {number} deadband */
function hasMoved (now, then, deadband) {
  if (now === then) return false
  if (typeof now === 'number' && typeof then === 'number') return Math.abs(now - then) > deadband
  if (typeof now === 'bigint' && typeof then === 'bigint') return Number(now > then ? now - then : then - now) > deadband
  return true
}
