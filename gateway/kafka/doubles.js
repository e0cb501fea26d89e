/** So many sessions apart it looks: a member that has died is shown until its session is over. */
const SESSIONS = 3

/** Finds out whether another member of a group has the name of this one: two are running that should be one. */
export class Doubles {
  /** Who had its name at the last look. @type {string[]} */
  #seen = []
  #dueMs = -Infinity
  #options

  /**
   * @param {object} options
   * @param {import('./membership.js').Membership} options.membership
   * @param {number} options.sessionMs
   * @param {() => void} options.onDouble  there is one; again and again while that is so
   */
  constructor (options) {
    this.#options = options
  }

  /** Call it often. */
  async look () {
    if (performance.now() < this.#dueMs) return
    const { membership, sessionMs, onDouble } = this.#options
    this.#dueMs = performance.now() + SESSIONS * sessionMs
    const namesakes = await membership.namesakes().catch(() => []) // what is wrong with the coordinator is told by who needs it
    if (namesakes.some(id => this.#seen.includes(id))) onDouble()
    this.#seen = namesakes
  }
}
