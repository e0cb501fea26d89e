import { setTimeout as sleep } from 'node:timers/promises'
import { backoff } from '../../gateway/base/backoff.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { apart } from '../out/gathering.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('./receipt-records.js').Part} Part
 * @typedef {Omit<Part, 'rows'>} Guest  a batch of a message
 * @typedef {import('../out/gathering.js').Gathered<Guest>} Gathered
 *
 * @typedef {object} KeepingOptions
 * @property {Pick<import('./receipts.js').Receipts, 'write'|'arrived'>} receipts
 * @property {(batch: Batch) => Promise<unknown>} append  to the spool, which takes what it is given in order
 * @property {() => string|null} blocked  why the spool waits now; null when it does not
 * @property {(gathered: Gathered) => void} onKept  it is in the spool
 * @property {(guest: Guest, batch: Batch, error: unknown) => Promise<void>} onRefused  no spool accepts it: resolves once it is kept
 *   elsewhere
 * @property {import('../../gateway/base/log.js').Log} log
 */

/** Errors that pass: what meets another, such as one of encoding, would meet it again for ever. */
const FOR_NOW = ['SLUICE_SPOOL_FULL', 'SLUICE_SPOOL_CLOSED', 'SLUICE_SPOOL_OPEN']

/**
 * Brings what gathered of third-party messages into the spool, in rounds: all that waits at the time is written among the receipts, then
 * given to the spool, and those who brought it are told. What fails is tried again, as the broker waits for it.
 */
export class Keeping {
  /** @type {Gathered[]} */
  #waiting = []
  #isRunning = false
  #isClosed = false
  #failures = 0
  /** Of the last round. @type {string|null} */
  #problem = null
  #round = Promise.withResolvers()
  #options

  /** @param {KeepingOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** @param {Gathered} gathered */
  store (gathered) {
    this.#waiting.push(gathered)
    if (!this.#isRunning) this.#run()
  }

  /** Why nothing is kept now; null where it is. @returns {string|null} */
  get blocked () { return this.#problem ?? this.#options.blocked() }

  /** Resolves once nothing waits. */
  async settled () {
    while (this.#isRunning && !this.#isClosed) await this.#round.promise
  }

  /** Nothing is tried again. */
  close () { this.#isClosed = true }

  async #run () {
    this.#isRunning = true
    await null // what is given in the same turn goes together
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const all = this.#waiting.splice(0)
      try {
        await this.#store(all)
        this.#failures = 0
        this.#problem = null
      } catch (error) {
        const count = this.#waiting.reduce((sum, { guests }) => sum + guests.length, 0)
        this.#problem = describe(error)
        this.#say(`${count} third-party messages cannot be kept, and stay with the broker: ${this.#problem}`)
        await sleep(backoff(this.#failures++, { first: 200, max: 10_000 }), undefined, { ref: false })
      }
      this.#isRunning = this.#waiting.length > 0
      this.#round.resolve(undefined)
      this.#round = Promise.withResolvers()
    }
    this.#isRunning = false
  }

  /** @param {Gathered[]} all */
  async #store (all) {
    const { receipts, append, onKept } = this.#options
    const groups = all.map(({ batch, guests, rows }) => {
      return { source: batch.source, parts: guests.map(({ message, part }, i) => ({ message, part, rows: rows[i] })) }
    })
    try {
      await receipts.write(groups)
    } catch (error) {
      this.#waiting.unshift(...all)
      throw error
    }
    const results = await Promise.allSettled(all.map(({ batch }) => append(batch)))
    const isIn = results.map(({ status }) => status === 'fulfilled')
    const failed = all.filter((_, i) => !isIn[i])
    const errors = results.flatMap(result => result.status === 'rejected' ? [result.reason] : [])
    const later = failed.filter((_, i) => isForNow(errors[i]))
    this.#waiting.unshift(...later)
    await receipts.arrived(groups.map((group, i) => ({ ...group, isIn: isIn[i] }))).catch(error => this.#say(describe(error)))
    all.forEach((gathered, i) => { if (isIn[i]) onKept(gathered) })
    await Promise.all(failed.map((gathered, i) => isForNow(errors[i]) ? undefined : this.#refuse(gathered, errors[i])))
    if (later.length > 0) throw errors.find(isForNow)
  }

  /** One that the spool does not accept must not cost the others. @param {Gathered} gathered @param {unknown} error */
  async #refuse (gathered, error) {
    const { batch, guests: [guest] } = gathered
    if (gathered.guests.length > 1) {
      this.#waiting.unshift(...apart(gathered))
      return
    }
    try {
      await this.#options.onRefused(guest, batch, error)
    } catch (cause) {
      this.#waiting.unshift(gathered)
      throw cause
    }
  }

  /** @param {string} text */
  #say (text) {
    if (!this.#isClosed) this.#options.log.error(text)
  }
}

/** @param {unknown} error */
function isForNow (error) {
  return error instanceof SluiceError && FOR_NOW.includes(error.code)
}
