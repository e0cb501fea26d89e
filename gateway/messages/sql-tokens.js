import { SluiceError } from '../base/errors.js'

/**
 * The words, names, values and signs of an SQL statement.
 *
 * @typedef {'word'|'name'|'text'|'number'|'parameter'|'sign'|'end'} TokenKind  a `name` is a quoted identifier; a `parameter` stands for a
 *   value to come
 * @typedef {{kind: TokenKind, text: string, at: number}} Token  `text` without quotes and escapes; of a parameter its number or name, or
 *   '?' for the next one; `at` is its position
 *
 * @typedef {object} Dialect
 * @property {string} nameQuotes  the quotes of names
 * @property {string} textQuotes  the quotes of texts
 * @property {boolean} backslash  whether a backslash in a text escapes what follows
 * @property {RegExp} parameter  sticky; its first group is the parameter's number or name
 * @property {(word: string) => string} fold  how the database stores an unquoted name
 */

/** @type {Dialect} */
export const postgresql = {
  nameQuotes: '"',
  textQuotes: '\'',
  backslash: false,
  parameter: /\$(\d+|[a-z_]\w*)/iy,
  fold: word => word.toLowerCase()
}

/** @type {Dialect} */
export const mysql = { nameQuotes: '`"', textQuotes: '\'"', backslash: true, parameter: /:(\w+)|\?/y, fold: word => word }

const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy
const ESCAPED = /** @type {Record<string, string>} */ ({ 0: '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' })

/** Reads a statement token by token. */
export class Tokens {
  #text
  #dialect
  #at = 0

  /** @param {string} text @param {Dialect} dialect */
  constructor (text, dialect) {
    this.#text = text
    this.#dialect = dialect
  }

  /** The next token where a name is expected: what is quoted is a name. @returns {Token} */
  nextName () {
    return this.#next(this.#dialect.nameQuotes, 'name')
  }

  /** The next token where a value is expected: what is quoted is a text. @returns {Token} */
  next () {
    return this.#next(this.#dialect.textQuotes, 'text')
  }

  /** @param {string} quotes @param {'name'|'text'} quoted @returns {Token} */
  #next (quotes, quoted) {
    const at = this.#at = afterBlanks(this.#text, this.#at)
    const text = this.#text
    if (at === text.length) return { kind: 'end', text: '', at }
    if (quotes.includes(text[at])) return { kind: quoted, text: this.#quoted(quoted === 'text' && this.#dialect.backslash), at }
    const parameter = this.#match(this.#dialect.parameter)
    if (parameter) return { kind: 'parameter', text: parameter[1] ?? '?', at }
    const word = this.#match(WORD)
    if (word) return { kind: 'word', text: word[0], at }
    const number = this.#match(NUMBER)
    if (number) return { kind: 'number', text: number[0], at }
    this.#at++
    return { kind: 'sign', text: text[at], at }
  }

  /** @param {RegExp} pattern  sticky */
  #match (pattern) {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at = pattern.lastIndex
    return match
  }

  /** The text up to the closing quote; two quotes in a row stand for one. @param {boolean} backslash */
  #quoted (backslash) {
    const text = this.#text
    const begin = this.#at
    const quote = text[begin]
    let value = ''
    let from = begin + 1
    for (let at = from; at < text.length; at++) {
      if (backslash && text[at] === '\\') {
        value += text.slice(from, at) + (ESCAPED[text[at + 1]] ?? text[at + 1] ?? '')
        from = ++at + 1
      } else if (text[at] === quote) {
        value += text.slice(from, at)
        if (text[at + 1] !== quote) {
          this.#at = at + 1
          return value
        }
        from = ++at
      }
    }
    throw new SluiceError('SLUICE_PAYLOAD_SQL', `The ${quote} at character ${begin + 1} of the SQL statement is not closed.`)
  }
}

/**
 * Where the white space and comments that begin at a position end.
 * @param {string} text @param {number} at
 */
export function afterBlanks (text, at) {
  while (at < text.length) {
    if (text.startsWith('--', at)) at = after(text, '\n', at)
    else if (text.startsWith('/*', at)) at = after(text, '*/', at)
    else if (/\s/.test(text[at])) at++
    else return at
  }
  return at
}

/** @param {string} text @param {string} end  of a comment @param {number} at */
function after (text, end, at) {
  const found = text.indexOf(end, at + 2)
  return found < 0 ? text.length : found + end.length
}
