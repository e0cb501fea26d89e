/** What is wrong with a mapping, and what to do about it. */
export class Fault extends Error {
  /** @param {string} what @param {string} fix */
  constructor (what, fix) {
    super(what)
    this.fix = fix
  }
}

/** @param {string} what @param {string} fix */
export function fault (what, fix) {
  return new Fault(what, fix)
}

/** A text of the user's in a message. @param {unknown} text */
export function shown (text) {
  const all = String(text)
  return JSON.stringify(all.length > 60 ? `${all.slice(0, 60)}…` : all)
}
