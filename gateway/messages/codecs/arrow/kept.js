/**
 * What is made once for many messages, by a text, as long as all of it is small: then it begins anew. A thousand sources in turn find
 * theirs again; whoever invents names takes no more memory than that.
 * @template T
 */
export class Kept {
  /** @type {Map<string, T>} */
  #all = new Map()
  #bytes = 0

  /** @param {number} [maxBytes] */
  constructor (maxBytes = 2 ** 23) {
    this.maxBytes = maxBytes
  }

  /** @param {string} key */
  get (key) { return this.#all.get(key) }

  /** @param {string} key  not kept yet @param {T} value @param {number} bytes  that it takes beside its key, about */
  set (key, value, bytes) {
    this.#bytes += key.length + bytes
    if (this.#bytes > this.maxBytes) {
      this.#all.clear()
      this.#bytes = key.length + bytes
    }
    this.#all.set(key, value)
  }
}
