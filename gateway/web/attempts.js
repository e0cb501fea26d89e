import { SluiceError } from '../base/errors.js'

/** So many in a row cost nothing: people mistype. */
const FREE_ATTEMPTS = 5
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 60_000
const FORGOTTEN_AFTER_MS = 600_000
/** Of which attempts are remembered; beyond that the oldest are forgotten. */
const MAX_ADDRESSES = 1000

/** Slows down whoever guesses: each wrong password doubles the time until the next may be tried, up to a minute. */
export class Attempts {
  /** @type {Map<string, {failed: number, lastMs: number, nextMs: number}>} by address */
  #addresses = new Map()
  #now

  /** @param {() => number} [now]  monotonic milliseconds */
  constructor (now = () => performance.now()) {
    this.#now = now
  }

  /** Counts an attempt as failed until it is known to be right. @param {string} address @throws {SluiceError} SLUICE_LOGIN_WAIT */
  begin (address) {
    const nowMs = this.#now()
    const { failed: before, lastMs, nextMs } = this.#addresses.get(address) ?? { failed: 0, lastMs: nowMs, nextMs: 0 }
    if (nowMs < nextMs) {
      throw new SluiceError('SLUICE_LOGIN_WAIT', 'There were too many wrong passwords.', {
        fix: `Try again in ${Math.ceil((nextMs - nowMs) / 1000)} s.`
      })
    }
    const failed = nowMs - lastMs > FORGOTTEN_AFTER_MS ? 1 : before + 1
    const waitMs = failed < FREE_ATTEMPTS ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (failed - FREE_ATTEMPTS), MAX_WAIT_MS)
    this.#addresses.delete(address)
    this.#addresses.set(address, { failed, lastMs: nowMs, nextMs: nowMs + waitMs })
    if (this.#addresses.size > MAX_ADDRESSES) this.#addresses.delete(this.#addresses.keys().next().value ?? '')
  }

  /** @param {string} address */
  succeed (address) {
    this.#addresses.delete(address)
  }
}
