import { backoff } from '../../gateway/base/backoff.js'
import { keyOf } from './restaging.js'

/**
 * @typedef {import('./too-big.js').Parcel} Parcel
 * @typedef {{parcel: Parcel, bytes: number, tries: number, dueMs: number}} Aside
 */

const WAIT_MS = { first: 1000, max: 600_000 }
const TICK_MS = 1000

/**
 * What has been under way when connections broke, set aside so that others pass. Each is tried again, and waits longer after each failure;
 * of those that are to blame only one at a time, as each costs all others a connection.
 */
export class Asides {
  /** @type {Map<string, Aside>} */
  #suspects = new Map()
  /** Single rows. @type {Map<string, Aside>} */
  #blamed = new Map()
  /** Being tried. @type {Map<string, Aside & {isBlamed: boolean}>} */
  #out = new Map()
  #failures = 0
  #dueMs = 0
  /** @type {NodeJS.Timeout|undefined} */
  #timer
  #nowMs
  #onDue

  /** @param {{nowMs: () => number, onDue: () => void}} options  `onDue`: something may be due */
  constructor ({ nowMs, onDue }) {
    this.#nowMs = nowMs
    this.#onDue = onDue
  }

  close () { clearInterval(this.#timer) }

  get blamed () { return this.#blamed.size + Number(this.#isTryingBlamed) }

  /** Whether it waits here. @param {Parcel} parcel */
  has (parcel) {
    const key = keyOf(parcel)
    return this.#suspects.has(key) || this.#blamed.has(key)
  }

  /** @param {Parcel} parcel */
  isTried (parcel) { return this.#out.has(keyOf(parcel)) }

  /** Until something else has passed; later each time. @param {Parcel} parcel @param {number} bytes */
  suspect (parcel, bytes) {
    const tries = this.#out.get(keyOf(parcel))?.tries ?? 0
    const dueMs = tries === 0 ? 0 : this.#nowMs() + backoff(tries - 1, WAIT_MS)
    this.forget(parcel)
    this.#suspects.set(keyOf(parcel), { parcel, bytes, tries: tries + 1, dueMs })
    this.#tick()
  }

  /** It cannot be made smaller. @param {Parcel} parcel @param {number} bytes */
  blame (parcel, bytes) {
    const isFirst = this.blamed === 0
    if (isFirst || this.isTried(parcel)) this.#dueMs = this.#nowMs() + backoff(this.#failures++, WAIT_MS)
    this.forget(parcel)
    this.#blamed.set(keyOf(parcel), { parcel, bytes, tries: 0, dueMs: 0 })
    this.#tick()
  }

  /** It has passed, or is held no longer. @param {Parcel} parcel */
  forget (parcel) {
    for (const asides of [this.#suspects, this.#blamed, this.#out]) asides.delete(keyOf(parcel))
    this.#tick()
  }

  /** So large a message passes: so may what is no larger, at once. @param {number} bytes */
  passed (bytes) {
    this.#failures = this.#dueMs = 0
    for (const asides of [this.#suspects, this.#blamed]) {
      for (const [key, aside] of asides) {
        if (aside.bytes > bytes) continue
        asides.delete(key)
        this.#suspects.set(key, { ...aside, tries: 0, dueMs: 0 })
      }
    }
  }

  /** To be tried again now. @returns {Parcel|undefined} */
  next () {
    const now = this.#nowMs()
    const suspect = [...this.#suspects].find(([, { dueMs }]) => now >= dueMs)
    const [key, aside] = suspect ?? (now < this.#dueMs || this.#isTryingBlamed ? [] : this.#blamed.entries().next().value ?? [])
    if (key === undefined || aside === undefined) return undefined
    this.#suspects.delete(key)
    const isBlamed = this.#blamed.delete(key)
    this.#out.set(key, { ...aside, isBlamed })
    return aside.parcel
  }

  get #isTryingBlamed () { return [...this.#out.values()].some(({ isBlamed }) => isBlamed) }

  #tick () {
    const isEmpty = this.#suspects.size + this.#blamed.size === 0
    if (!isEmpty) this.#timer ??= setInterval(this.#onDue, TICK_MS).unref()
    else this.#timer = void clearInterval(this.#timer)
  }
}
