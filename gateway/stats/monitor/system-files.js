import { closeSync, openSync, readSync, readdirSync, readlinkSync } from 'node:fs'

/** Long enough for nearly all of them; it grows. */
let buffer = Buffer.allocUnsafe(16 * 1024)

/**
 * The files in which Linux tells about itself: `/proc` and `/sys`, below a root that tests choose. Whatever cannot be read, because it is
 * not there or not for us, is undefined.
 */
export class SystemFiles {
  #root

  /** @param {string} [root] */
  constructor (root = '') {
    this.#root = root
  }

  /** @param {string} path @returns {string|undefined} */
  text (path) {
    return attempt(() => {
      const file = openSync(this.#root + path, 'r')
      try {
        let length = 0
        for (let read = 1; read > 0; length += read) {
          if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(length)])
          read = readSync(file, buffer, length, buffer.length - length, null)
        }
        return buffer.toString('utf8', 0, length)
      } finally {
        closeSync(file)
      }
    })
  }

  /** @param {string} path @returns {string[]|undefined} */
  names (path) { return attempt(() => readdirSync(this.#root + path)) }

  /** @param {string} path @returns {string|undefined} */
  link (path) { return attempt(() => readlinkSync(this.#root + path)) }
}

/** The number behind a key at the start of a line. @param {string|undefined} text @param {string} key @returns {number|undefined} */
export function numberOf (text, key) {
  if (text === undefined) return undefined
  const start = text.startsWith(key) ? 0 : text.indexOf(`\n${key}`) + 1
  if (start === 0 && !text.startsWith(key)) return undefined
  const number = Number.parseInt(text.slice(start + key.length, start + key.length + 32), 10)
  return Number.isNaN(number) ? undefined : number
}

/** The same of kB, in bytes. @param {string|undefined} text @param {string} key @returns {number|undefined} */
export function bytesOf (text, key) {
  const kilobytes = numberOf(text, key)
  return kilobytes === undefined ? undefined : kilobytes * 1024
}

/** What says nothing of the file: this process has too much open, or the machine has no memory. */
const EXHAUSTED = ['EMFILE', 'ENFILE', 'ENOMEM']

/** @template T @param {() => T} read @returns {T|undefined} */
function attempt (read) {
  try {
    return read()
  } catch (error) {
    const { syscall, code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
    if (syscall === undefined || EXHAUSTED.includes(code)) throw error
    return undefined
  }
}
