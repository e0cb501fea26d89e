/**
 * What is normal here and would be an alarm elsewhere: limits of single sources, sinks and stages, or of all of them, as *alarm* nodes
 * list them.
 *
 * @typedef {'silent'|'waiting'|'spool'} Measure  seconds that a source is silent, that a sink waits for its database; per cent of a spool
 * @typedef {{of: Measure, name: string, limit: number}} Limit  `name`: empty for all that have no limit of their own; `limit`: 0 for never
 */

/** Those that hold where nothing is said. Of silence it depends on what is usual. */
const USUAL = { waiting: 120, spool: 80 }

export class Limits {
  /** By the node that lists them. @type {Map<object, Map<string, number>>} */
  #lists = new Map()

  /** @param {Limit[]} limits @returns {() => void} removes them */
  add (limits) {
    const owner = {}
    this.#lists.set(owner, new Map(limits.map(({ of, name, limit }) => [`${of} ${name}`, limit === 0 ? Infinity : limit])))
    return () => { this.#lists.delete(owner) }
  }

  /**
   * @template {Measure} Of
   * @param {Of} of
   * @param {string} name
   * @returns {Of extends 'silent' ? number|undefined : number} infinite for never; undefined for what is usual
   */
  of (of, name) {
    const found = this.#listed(`${of} ${name}`) ?? this.#listed(`${of} `)
    return /** @type {any} */ (found ?? /** @type {Record<string, number>} */ (USUAL)[of])
  }

  /** @param {string} key */
  #listed (key) {
    for (const list of this.#lists.values()) if (list.has(key)) return list.get(key)
  }
}
