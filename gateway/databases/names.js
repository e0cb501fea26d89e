import { createHash } from 'node:crypto'
import { SluiceError } from '../base/errors.js'

/**
 * Which names a database can have.
 *
 * @typedef {object} NameRules
 * @property {string} product  as users know it
 * @property {number} maxNameBytes  of a table or column, in UTF-8
 * @property {(name: string) => string} fold  returns the same for names that the database treats as equal
 *
 * @typedef {object} TableNames
 * @property {boolean} perSource  each source has a table of its own
 * @property {(source: string) => string} of  throws SLUICE_SINK_IDENTIFIER where the database cannot have that name
 * @property {(source: string) => string} inRecords  the same name for commit records, which can be left even where the table cannot be made
 */

const SOURCE = '{source}'

const FIXES = {
  table: 'Rename the source, or set another table.',
  column: 'Rename the field or tag.',
  schema: 'Set another schema.'
}

/** The table of commit records, beside the data. */
export const COMMITS_TABLE = 'sluice_commits'

/**
 * The tables a template names: `{source}` in it stands for the batch's source.
 * @param {string} template
 * @param {NameRules} rules
 * @returns {TableNames}
 */
export function tableNames (template, rules) {
  const fill = (/** @type {string} */ source) => template.replaceAll(SOURCE, () => source)
  return {
    perSource: template.includes(SOURCE),
    of (source) {
      const name = checkName(fill(source), 'table', rules)
      if (rules.fold(name) === rules.fold(COMMITS_TABLE)) {
        const problem = `Source "${source}" would be stored in the table "${name}", which holds the commit records.`
        throw new SluiceError('SLUICE_SINK_IDENTIFIER', problem, {
          fix: 'Name the source or the table differently.'
        })
      }
      return name
    },
    inRecords: fill
  }
}

/**
 * The name itself, if the database can have it.
 * @param {string} name
 * @param {'table'|'column'|'schema'} what
 * @param {NameRules} rules
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER
 */
export function checkName (name, what, { product, maxNameBytes }) {
  const bytes = Buffer.byteLength(name)
  const wrong = name === ''
    ? 'is empty'
    : bytes > maxNameBytes
      ? `has ${bytes} bytes, of which ${product} keeps ${maxNameBytes}`
      : name.includes('\0')
        ? 'contains the character NUL'
        : !name.isWellFormed() && 'is not valid Unicode'
  if (!wrong) return name
  throw new SluiceError('SLUICE_SINK_IDENTIFIER', `The ${what} name "${shorten(name)}" ${wrong}.`, {
    fix: FIXES[what]
  })
}

/**
 * An SQL identifier.
 * @param {string} name
 */
export function quote (name) {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * A second name for one that differs only by case from a name already in use, where the database takes the two for the same: the upper-case
 * letters' positions follow as a hexadecimal bit pattern (`temp` beside `Temp` becomes `temp~0`), so that the same name always gets the
 * same.
 * @param {string} name
 */
export function caseMarked (name) {
  const bits = Array.from(name, letter => /[A-Z]/.test(letter) ? '1' : '0').join('')
  return `${name}~${BigInt(`0b${bits}`).toString(16)}`
}

const HASH_LETTERS = 16

/**
 * A name for servers that take few characters. Any other becomes _x, its number in hexadecimal, and _; what is too long then ends in a
 * hash. Different names never become the same.
 * @param {string} name
 * @param {number} maxLetters
 * @param {RegExp} others  the other characters, and _ before x
 */
export function asciiName (name, maxLetters, others = /_(?=x)|\W/gu) {
  const escaped = name.replace(others, letter => `_x${letter.codePointAt(0)?.toString(16)}_`)
  if (escaped.length <= maxLetters) return escaped
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LETTERS)
  return `${escaped.slice(0, maxLetters - HASH_LETTERS - 1)}_${hash}`
}

/** The name of which `asciiName` has made another, unless that ends in a hash. @param {string} ascii */
export function nameOfAscii (ascii) {
  return ascii.replace(/_x([0-9a-f]+)_/g, (_, code) => String.fromCodePoint(parseInt(code, 16)))
}

/** @param {string} name */
function shorten (name) {
  const shown = name.replaceAll('\0', '\\0')
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown
}
