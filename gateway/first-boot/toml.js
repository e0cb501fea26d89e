import { parse } from 'smol-toml'
import { readOptions } from '../../resources/options.js'
import { SluiceError } from '../base/errors.js'
import { lineOf } from './lines.js'
import { SECTIONS } from './schema.js'

/**
 * @typedef {import('./schema.js').Section} Section
 *
 * @typedef {object} Part  one table of the file, or one entry of a list
 * @property {Record<string, any>} values  those that are right, and the defaults
 * @property {Set<string>} given  the keys that the file has
 * @property {Set<string>} wrong  the keys whose values are not what they must be
 *
 * @typedef {object} Settings
 * @property {Record<string, Part[]>} parts  by the name of the section; none where the file has none
 * @property {SluiceError[]} problems
 * @property {boolean} isReadable  false where nothing of the file could be read
 */

/** Many times that of the template; to tell each of a million mistakes would take until the start is given up. */
const MAX_LENGTH = 65_536

/** Of what the file should say. Never throws: what is wrong is told, and the rest holds. @param {string} text @returns {Settings} */
export function readSettings (text) {
  const parts = Object.fromEntries(Object.keys(SECTIONS).map(name => [name, /** @type {Part[]} */ ([])]))
  if (text.length > MAX_LENGTH) {
    const told = `It has ${text.length} characters, and may have ${MAX_LENGTH}. Nothing of the file could be applied.`
    return { parts, problems: [new SluiceError('SLUICE_TOML_SYNTAX', told, { fix: 'Take out what is not a setting.' })], isReadable: false }
  }
  /** @type {Record<string, any>} */
  let document
  try {
    document = parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    return { parts, problems: [syntaxProblem(cause)], isReadable: false }
  }
  /** @type {SluiceError[]} */
  const problems = []
  for (const [name, given] of Object.entries(document)) {
    const section = Object.hasOwn(SECTIONS, name) ? SECTIONS[name] : undefined
    const tables = section?.isList ? given : [given]
    if (!section && !isTable(given) && !Array.isArray(given)) {
      problems.push(problem(text, [name], `"${name}" stands outside of all tables.`, 'Take the # away from the line [name] above it, too.'))
    } else if (!section) {
      problems.push(problem(text, [name], `There is no table [${name}].`, `Those there are: ${Object.keys(SECTIONS).join(', ')}.`))
    } else if (!Array.isArray(tables) || !tables.every(isTable)) {
      const header = section.isList ? `[[${name}]]` : `[${name}]`
      problems.push(problem(text, [name], `"${name}" is not a table.`, `Begin it with a line ${header}, its keys below.`))
    } else {
      parts[name] = tables.map((table, index) => readPart(text, name, index, table, problems))
    }
  }
  for (const [name, tables] of Object.entries(parts)) {
    const names = tables.map(({ values }) => values.name)
    tables.forEach((part, index) => {
      if (names[index] === undefined || names.indexOf(names[index]) === index) return
      part.wrong.add('name')
      problems.push(problem(text, [name, 'name'], `There are two [[${name}]] named ${names[index]}.`, 'The first counts.', index))
    })
  }
  return { parts, problems, isReadable: true }
}

/**
 * @param {string} text
 * @param {string} name
 * @param {number} index
 * @param {Record<string, unknown>} table
 * @param {SluiceError[]} problems  what is found is added
 * @returns {Part}
 */
function readPart (text, name, index, table, problems) {
  const { properties } = SECTIONS[name]
  const { options, problemOf } = readOptions(SECTIONS[name], table)
  const known = Object.keys(properties)
  for (const key of Object.keys(table).filter(each => !known.includes(each))) {
    problems.push(problem(text, [name, key], `[${name}] has no key "${key}".`, `Those it has: ${known.join(', ')}.`, index))
  }
  for (const [key, sentence] of Object.entries(problemOf)) {
    const told = properties[key]['x-secret'] && key in table ? `${key} is not as it has to be.` : sentence
    problems.push(problem(text, [name, key], `[${name}] ${told}`, properties[key].description ?? '', index))
  }
  return { values: options, given: new Set(Object.keys(table)), wrong: new Set(Object.keys(problemOf)) }
}

/** @param {unknown} value */
function isTable (value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/**
 * @param {string} text
 * @param {string[]} path  a table, and mostly a key in it
 * @param {string} what
 * @param {string} fix
 * @param {number} [index]  which of the tables of that name
 */
function problem (text, [table, key], what, fix, index = 0) {
  const line = lineOf(text, table, key, index)
  return new SluiceError('SLUICE_TOML_VALUE', `${line === null ? '' : `Line ${line}: `}${what}`, { fix })
}

/** @param {any} cause  of the parser, which shows the line: it may hold a password */
function syntaxProblem ({ line, column, message }) {
  const [reason] = String(message).replace(/^Invalid TOML document: /, '').split('\n')
  return new SluiceError('SLUICE_TOML_SYNTAX', `Line ${line}, character ${column}: ${reason}. Nothing of the file could be applied.`, {
    fix: 'Write keys as key = value, texts in quotation marks, and tables as [name]; the comments of the template show each.'
  })
}
