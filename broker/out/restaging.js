/** @typedef {{source: string, epoch: string, seq: number}} Name  of a batch */

/** Has batches staged again, each once at a time: two copies of one would be two batches for a database that has neither. */
export class Restaging {
  /** @type {Set<string>} */
  #underWay = new Set()
  #spool
  #onStaged

  /**
   * @param {import('../spool/spool.js').Spool} spool
   * @param {() => void} onStaged  something was
   */
  constructor (spool, onStaged) {
    this.#spool = spool
    this.#onStaged = onStaged
  }

  /**
   * @param {Name[]} names
   * @param {{inHalves?: boolean}} [options]
   * @returns {Promise<number>} how many there are now; 0 where all are held no longer, or under way, or cannot be halved
   */
  async restage (names, options) {
    const mine = names.filter(name => !this.#underWay.has(keyOf(name)))
    for (const name of mine) this.#underWay.add(keyOf(name))
    try {
      const { length } = await this.#spool.restage(mine, options)
      if (length > 0) this.#onStaged()
      return length
    } finally {
      for (const name of mine) this.#underWay.delete(keyOf(name))
    }
  }
}

/** @param {Name} name */
export function keyOf ({ source, epoch, seq }) {
  return JSON.stringify([source, epoch, seq])
}
