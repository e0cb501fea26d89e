/** A tag of several parts of a batch, which come one after the other: a text where all have the same, else a column. */
export class JointTag {
  /** Of all rows so far, while there is no column. @type {string|undefined} */
  #text
  /** @type {string[]|null} */
  #values = null
  /** @type {number[]} rows that lack it */
  #missing = []
  #rows = 0

  /** @param {import('./tags.js').Tag} tag  of the rows from `at` to `end` @param {number} at @param {number} end */
  add (tag, at, end) {
    if (this.#values === null && typeof tag === 'string') {
      if (at === 0) this.#text = tag
      if (this.#text === tag && this.#rows === at) {
        this.#rows = end
        return
      }
    }
    const values = this.#columnTo(at)
    if (typeof tag === 'string') for (let row = at; row < end; row++) values.push(tag)
    else {
      for (let i = 0; i < end - at; i++) {
        values.push(tag.values[i])
        if (tag.valid?.[i] === 0) this.#missing.push(at + i)
      }
    }
    this.#rows = end
  }

  /** @param {number} rows @returns {import('./tags.js').Tag} */
  tag (rows) {
    if (this.#values === null && this.#text !== undefined && this.#rows === rows) return this.#text
    const values = this.#columnTo(rows)
    if (this.#missing.length === 0) return { values, valid: null }
    const valid = new Uint8Array(rows).fill(1)
    for (const row of this.#missing) valid[row] = 0
    return { values, valid }
  }

  /** As a column, of which the rows from where it ends to `rows` are missing. @param {number} rows */
  #columnTo (rows) {
    const values = this.#values ??= new Array(this.#rows).fill(this.#text)
    for (let row = this.#rows; row < rows; row++) {
      values.push('')
      this.#missing.push(row)
    }
    this.#rows = rows
    return values
  }
}
