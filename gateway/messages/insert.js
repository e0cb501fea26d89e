import { SluiceError } from '../base/errors.js'
import { Tokens, afterBlanks } from './sql-tokens.js'

/**
 * Reads `INSERT INTO table (columns) VALUES (…), (…)` and nothing else: a sink runs no SQL, it takes only the values.
 *
 * @typedef {import('./sql-tokens.js').Dialect} Dialect
 * @typedef {import('./sql-tokens.js').Token} Token
 *
 * @typedef {{parameter: string}|{literal: number|bigint|string|boolean|null}|{now: true}} Cell  `parameter` is its number or name, or '?'
 *   for the next one
 * @typedef {object} Insert
 * @property {string} table  without the schema or database before it
 * @property {string[]} columns
 * @property {Cell[][]} rows  empty where all of them are in one parameter: `VALUES ?`
 */

const NOW = new Set(['NOW', 'CURRENT_TIMESTAMP', 'LOCALTIMESTAMP'])
/** These would skip, replace or delay rows. */
const MODIFIERS = new Set(['IGNORE', 'LOW_PRIORITY', 'HIGH_PRIORITY', 'DELAYED', 'OVERWRITE', 'OR'])
const LITERALS = new Map(Object.entries({ NULL: null, TRUE: true, FALSE: false }))

/** How SQL statements begin and plain text does not. */
const STATEMENT = new RegExp(`^(?:${[
  'insert\\s+(?:\\w+\\s+)?into\\s', 'insert\\s[^]*\\svalues\\s*[(?]', 'replace\\s+into\\s', 'select\\s[^]*\\sfrom\\s',
  'select\\s+[\\w.]+\\(', 'update\\s[^]*\\sset\\s', 'delete\\s+from\\s', 'merge\\s+into\\s',
  'with\\s+\\S+\\s+as\\s*\\(', 'call\\s+\\S+\\s*\\(', 'copy\\s+\\S+\\s+(?:from|to)\\s', 'load\\s+data\\s', 'truncate\\s+table\\s',
  '(?:create|alter|drop)\\s+(?:\\w+\\s+){0,3}' +
  '(?:table|index|view|database|schema|user|role|function|procedure|trigger|sequence|extension)\\s'
].join('|')})`, 'i')

/**
 * Whether a text is an SQL statement, of whatever kind.
 * @param {string} text
 */
export function isSql (text) {
  return STATEMENT.test(text.slice(afterBlanks(text, 0)))
}

/**
 * @param {string} statement
 * @param {Dialect} dialect
 * @param {string} place  of the statement: "msg.query"
 * @returns {Insert}
 * @throws {SluiceError} SLUICE_PAYLOAD_SQL
 */
export function readInsert (statement, dialect, place) {
  const reader = new InsertReader(new Tokens(statement, dialect), dialect, place)
  return reader.read()
}

class InsertReader {
  #tokens
  #dialect
  #place
  /** The token read ahead. @type {Token} */
  #token = { kind: 'end', text: '', at: 0 }

  /** @param {Tokens} tokens @param {Dialect} dialect @param {string} place */
  constructor (tokens, dialect, place) {
    this.#tokens = tokens
    this.#dialect = dialect
    this.#place = place
  }

  /** @returns {Insert} */
  read () {
    this.#advance()
    if (!this.#isWord('INSERT')) {
      throw this.#refusal(`this is ${show(this.#token)}`, `Keep your node for queries; to store msg.payload, delete ${this.#place}.`)
    }
    this.#advance('name')
    if (MODIFIERS.has(this.#token.text.toUpperCase())) throw this.#refusal(`${show(this.#token)} is more than it can do`)
    if (this.#isWord('INTO')) this.#advance('name')
    const table = this.#table()
    const columns = this.#columns()
    if (!this.#isWord('VALUES') && !this.#isWord('VALUE')) throw this.#unexpected('VALUES')
    this.#advance()
    const rows = this.#rows(columns)
    if (this.#isSign(';')) this.#advance()
    if (this.#token.kind !== 'end') throw this.#refusal(`${show(this.#token)} after the values is more than it can do`)
    return { table, columns, rows }
  }

  /** The last part of a name with dots. */
  #table () {
    let name = this.#name('the name of a table')
    while (this.#isSign('.')) {
      this.#advance('name')
      name = this.#name('the name of a table')
    }
    return name
  }

  #columns () {
    if (!this.#isSign('(')) throw this.#refusal(`${show(this.#token)} follows the table where the columns must be named`)
    /** @type {string[]} */
    const columns = []
    do {
      this.#advance('name')
      columns.push(this.#name('the name of a column'))
    } while (this.#isSign(','))
    this.#pass(')')
    const double = columns.find((name, index) => columns.indexOf(name) !== index)
    if (double !== undefined) throw this.#refusal(`the column ${JSON.stringify(double)} is named twice`)
    return columns
  }

  /** @param {string[]} columns */
  #rows (columns) {
    if (this.#token.kind === 'parameter' && this.#token.text === '?') {
      this.#advance()
      return []
    }
    const rows = []
    for (;;) {
      const row = this.#row()
      if (row.length !== columns.length && !isList(row)) {
        throw this.#refusal(`row ${rows.length + 1} has ${row.length} values for ${columns.length} columns`)
      }
      rows.push(row)
      if (!this.#isSign(',')) return rows
      this.#advance()
    }
  }

  #row () {
    if (!this.#isSign('(')) throw this.#unexpected('(')
    const cells = []
    do {
      this.#advance()
      cells.push(this.#cell())
    } while (this.#isSign(','))
    this.#pass(')')
    return cells
  }

  /** @returns {Cell} */
  #cell () {
    const { kind, text } = this.#token
    if (kind === 'parameter') return this.#passed({ parameter: text })
    if (kind === 'text') return this.#passed({ literal: text })
    if (kind === 'number') return this.#passed({ literal: numberOf(text) })
    const word = kind === 'word' ? text.toUpperCase() : ''
    const literal = LITERALS.get(word)
    if (literal !== undefined) return this.#passed({ literal })
    if (!NOW.has(word)) throw this.#refusal(`${show(this.#token)} is not a plain value`)
    this.#advance()
    if (this.#isSign('(')) {
      this.#advance()
      if (this.#token.kind === 'number') this.#advance()
      this.#pass(')')
    }
    return { now: true }
  }

  /** @param {Cell} cell */
  #passed (cell) {
    this.#advance()
    return cell
  }

  /** @param {string} expected */
  #name (expected) {
    const { kind, text } = this.#token
    if (kind !== 'name' && kind !== 'word') throw this.#unexpected(expected)
    this.#advance()
    return kind === 'name' ? text : this.#dialect.fold(text)
  }

  /** @param {string} sign */
  #pass (sign) {
    if (!this.#isSign(sign)) throw this.#unexpected(sign)
    this.#advance()
  }

  /** @param {'name'|'value'} [expected]  decides what a quoted text is */
  #advance (expected) {
    this.#token = expected === 'name' ? this.#tokens.nextName() : this.#tokens.next()
  }

  /** @param {string} sign */
  #isSign (sign) {
    return this.#token.kind === 'sign' && this.#token.text === sign
  }

  /** @param {string} word  in capitals */
  #isWord (word) {
    return this.#token.kind === 'word' && this.#token.text.toUpperCase() === word
  }

  /** @param {string} expected */
  #unexpected (expected) {
    return this.#refusal(`${show(this.#token)} stands where ${expected} is expected`)
  }

  /** @param {string} what @param {string} [fix] */
  #refusal (what, fix = 'Send the values as an object, or keep your node for this statement.') {
    return new SluiceError(
      'SLUICE_PAYLOAD_SQL',
      `A sink runs no SQL: it takes the values out of a plain INSERT INTO table (columns) VALUES (…) in ${this.#place}, and ${what}.`,
      { fix }
    )
  }
}

/** MySQL replaces one `?` by a list. @param {Cell[]} row */
function isList (row) {
  return row.length === 1 && 'parameter' in row[0] && row[0].parameter === '?'
}

/** @param {string} text */
function numberOf (text) {
  const number = Number(text)
  return Number.isInteger(number) && !Number.isSafeInteger(number) && /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : number
}

/** @param {Token} token */
function show ({ kind, text, at }) {
  if (kind === 'end') return 'its end'
  return `${JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text)} at character ${at + 1}`
}
