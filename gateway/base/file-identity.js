import { statSync } from 'node:fs'

/** Which file a name stood for: another may be moved to its place while the first one is open, as when a backup is restored. */
export class FileIdentity {
  #path
  #found

  /** @param {string} path  of a file, as it is now */
  constructor (path) {
    this.#path = path
    this.#found = numbersOf(path)
  }

  get exists () { return this.#found !== '' }

  /** Cheap enough to be asked before each write. */
  isReplaced () {
    return numbersOf(this.#path) !== this.#found
  }
}

/** @param {string} path */
function numbersOf (path) {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.dev} ${found.ino}` : ''
}
