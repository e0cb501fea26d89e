/** What it has grown by long ago says little about now. */
const MEMORY_MS = 60_000

/** How fast each of some things grows. */
export class Growth {
  /** By name, of those that were there at the last look. @type {Map<string, {bytes: number, perMs: number}>} */
  #known = new Map()
  #atMs = 0

  /** @param {Iterable<[name: string, bytes: number]>} all @param {number} nowMs  monotonic @returns {(name: string) => number} a ms */
  look (all, nowMs) {
    const passedMs = nowMs - this.#atMs
    const weight = 1 - Math.exp(-passedMs / MEMORY_MS)
    this.#atMs = nowMs
    this.#known = new Map(Array.from(all, ([name, bytes]) => {
      const last = this.#known.get(name)
      if (!last || passedMs <= 0) return [name, { bytes, perMs: last?.perMs ?? 0 }]
      return [name, { bytes, perMs: last.perMs + ((bytes - last.bytes) / passedMs - last.perMs) * weight }]
    }))
    return name => this.#known.get(name)?.perMs ?? 0
  }
}
