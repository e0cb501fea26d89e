/** Why figures of a block are not there: a letter at each, its text once below the block. */
export class Reasons {
  /** @type {string[]} */
  #texts = []

  /** @param {string|undefined} text @returns {string|null} its letter */
  note (text) {
    if (!text) return null
    if (!this.#texts.includes(text)) this.#texts.push(text)
    return letter(this.#texts.indexOf(text))
  }

  /** @returns {{letter: string, text: string}[]} */
  list () {
    return this.#texts.map((text, i) => ({ letter: letter(i), text }))
  }
}

/** a, b, … z, aa, ab, … @param {number} i @returns {string} */
function letter (i) {
  return (i < 26 ? '' : letter(Math.floor(i / 26) - 1)) + String.fromCharCode(97 + i % 26)
}
