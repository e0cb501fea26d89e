/**
 * Those that are connected and have not logged in: each only so long, and all together only so many. When there are more, the one that
 * came first from the address with the most has to go: so nobody takes the places of other addresses, and who logs in at once gets in
 * everywhere.
 */
export class WaitingRoom {
  /** How to dismiss each, oldest first, by address. @type {Map<string, Set<() => void>>} */
  #guests = new Map()
  #count = 0
  #places
  #patienceMs

  /** @param {{places: number, patienceMs: number}} options */
  constructor ({ places, patienceMs }) {
    this.#places = places
    this.#patienceMs = patienceMs
  }

  /** @param {string} address @param {() => void} end  its connection @returns {() => void} to be called once it has logged in or gone */
  enter (address, end) {
    const neighbours = this.#guests.get(address) ?? new Set()
    const dismiss = () => {
      leave()
      end()
    }
    const timer = setTimeout(dismiss, this.#patienceMs).unref()
    const leave = () => {
      clearTimeout(timer)
      if (!neighbours.delete(dismiss)) return
      this.#count--
      if (neighbours.size === 0) this.#guests.delete(address)
    }
    this.#guests.set(address, neighbours.add(dismiss))
    if (++this.#count > this.#places) this.#dismissOne()
    return leave
  }

  #dismissOne () {
    const most = [...this.#guests.values()].reduce((one, other) => other.size > one.size ? other : one)
    for (const dismiss of most) return dismiss()
  }
}
