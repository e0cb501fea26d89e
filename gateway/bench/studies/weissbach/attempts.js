import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from '../../../base/errors.js'

const MAX_ATTEMPTS = 10
const MAX_ERRORS = 3
const PAUSE_MS = 10

/** Requests to the database, each with how long it took; one that fails is made again, as the product's writer does. */
export class Attempts {
  /** @type {number[]} µs, of those that were answered */
  answered = []
  /** @type {number[]} likewise, of those that failed */
  failed = []
  /** @type {Set<string>} a few different ones */
  errors = new Set()

  /**
   * @template T
   * @param {() => Promise<T>} request
   * @returns {Promise<T>}
   */
  async make (request) {
    for (let attempt = 1; ; attempt++) {
      const beganMs = performance.now()
      try {
        const answer = await request()
        this.answered.push(microsecondsSince(beganMs))
        return answer
      } catch (error) {
        this.failed.push(microsecondsSince(beganMs))
        if (this.errors.size < MAX_ERRORS) this.errors.add(describe(error))
        if (attempt === MAX_ATTEMPTS) throw error
        await sleep(PAUSE_MS)
      }
    }
  }
}

/** @param {number} beganMs */
function microsecondsSince (beganMs) {
  return Math.round((performance.now() - beganMs) * 1000)
}
