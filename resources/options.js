import { checked } from './checks.js'
import { isWholeText } from './names.js'
import { commaComplaint, pointWarning } from './numerals.js'
import { grouped, say } from './sentences.js'

/**
 * What an option may be, and the words for what is wrong with one: the same in the editor's forms and in the gateway.
 * It knows the part of JSON Schema that the nodes' schemas use, and no more.
 *
 * @typedef {object} Property
 * @property {'string'|'integer'|'number'|'boolean'|'array'} type
 * @property {string} title
 * @property {string} [description]
 * @property {unknown} [default]  an empty field means this
 * @property {(string|number)[]} [enum]
 * @property {number} [minimum]
 * @property {number} [exclusiveMinimum]
 * @property {number} [maximum]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 * @property {number} [x-maxBytes]  in UTF-8, without the places that a template fills in
 * @property {string} [pattern]  of a text, whose example then shows what it looks like
 * @property {string[]} [examples]  where its default is none
 * @property {number} [minItems]
 * @property {number} [maxItems]
 * @property {Property|Schema} [items]  of an array: strings, or objects, which the form shows as a table
 * @property {string} [x-check]  in `checks.js`: what it may not be because of other options
 * @property {string[]} [x-unique]  of a table: the columns whose values no two rows may have together
 * @property {string} [x-unit]  of a number: "ms", "rows"
 * @property {boolean} [x-secret]  kept among Node-RED's credentials
 * @property {string} [x-node]  the type of the config node it refers to
 * @property {Record<string, unknown>} [x-when]  the options it depends on, each with the value or list of values under which it matters:
 *   elsewhere it is hidden, and its default holds; they come before it in the schema
 * @property {boolean} [x-advanced]  folded away in the form
 * @property {'listen'|'message'} [x-trial]  of a table of mappings: what the form tries them on, what the broker has or a message that is
 *   pasted
 * @property {boolean} [x-dbc]  the path of a DBC file, which the form can check
 * @property {boolean} [x-pem]  a certificate or key: its text, or the path of a file
 * @property {import('./offers.js').Offered} [x-offers]  what the gateway has heard of, or the server has, which the form offers
 * @property {Record<string, string>} [x-labels]  what the form calls the values of an enum; of other texts and of numbers, under '', what
 *   an empty field means
 *
 * @typedef {object} Schema
 * @property {'object'} type
 * @property {string} [title]
 * @property {string} [description]
 * @property {string[]} [required]
 * @property {Record<string, Property>} properties
 * @property {Record<string, Record<string, any>>} [x-presets]  of a table's rows: by the value of their column `preset`, what an empty
 *   cell of another column means there
 * @property {Record<string, string>} [x-preset-help]  what to know about each
 *
 * @typedef {{value?: Record<string, any>, problems: {column?: string, problem: string}[]}} ReadRow  what of a table's row can be read, and
 *   what is wrong in it; without column, the row as a whole
 * @typedef {{row: number, column?: string, problem: string}} CellProblem  in the row of this index
 */

/** One text lists so many of a table's problems; of the others it says how many there are. */
const MAX_LISTED = 3

/**
 * @param {Schema} schema
 * @param {Record<string, unknown>} given  other keys than the schema's are left alone
 * @returns {{options: Record<string, any>, problems: string[], problemOf: Record<string, string>}} typed values, defaults filled in; each
 *   problem is a sentence
 */
export function readOptions (schema, given) {
  /** @type {Record<string, any>} */
  const options = {}
  /** @type {Record<string, string>} */
  const problemOf = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const isMeant = applies(property, options)
    const { value, problem } = readOption(property, isMeant ? given[name] : undefined, isMeant && schema.required?.includes(name))
    if (problem) problemOf[name] = problem
    if (value !== undefined) options[name] = value
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    const problem = problemOf[name] ?? (applies(property, options) ? clash(property, options[name], options) : undefined)
    if (problem) problemOf[name] = problem
  }
  return { options, problems: Object.values(problemOf), problemOf }
}

/**
 * What a value that fits its property may not be because of others, in a sentence.
 * @param {Property} property @param {any} value @param {Record<string, any>} options
 */
export function clash (property, value, options) {
  const [first, ...others] = checked(property, value, options)
  if (!first) return
  return first.row === undefined ? first.problem : tableSentence(property, /** @type {CellProblem[]} */ ([first, ...others]))
}

/**
 * @param {Property} property
 * @param {unknown} given  as a form or a file has it: a number may come as text, a list of texts as lines
 * @param {boolean} [required]
 * @returns {{value?: any, problem?: string, warning?: string}}  `warning`: it can be used, but may not be what is meant
 */
export function readOption (property, given, required = false) {
  if (isEmpty(given) || isBlank(property, given)) {
    return property.default === undefined && required ? { problem: say('missing', { title: property.title }) } : { value: property.default }
  }
  if (property.enum) {
    const value = property.enum.find(choice => String(choice) === String(given))
    return value === undefined
      ? { problem: say('choice', { title: property.title, choices: property.enum.join(', '), given: quote(given) }) }
      : { value }
  }
  return isNumber(property)
    ? readNumber(property, given)
    : readers[/** @type {'boolean'|'string'|'array'} */ (property.type)](property, given)
}

/** Whether a field or a cell holds nothing. @param {unknown} given @returns {given is undefined|null|''} */
export const isEmpty = given => given === undefined || given === null || given === ''

/** Whether a text is of nothing but blanks, which only a secret may be. @param {Property} property @param {unknown} given */
function isBlank ({ type, enum: choices, 'x-secret': isSecret = false }, given) {
  return type === 'string' && !choices && !isSecret && typeof given === 'string' && given.trim() === ''
}

/** Whether a property matters under these options. @param {Property} property @param {Record<string, unknown>} options */
export function applies (property, options) {
  return Object.entries(property['x-when'] ?? {}).every(([name, value]) =>
    Array.isArray(value) ? value.includes(options[name]) : options[name] === value
  )
}

/**
 * Node-RED's description of the secret options, if there are any.
 * @param {Schema} schema
 * @returns {Record<string, {type: 'text'|'password'}>|undefined}
 */
export function credentialsOf ({ properties }) {
  const secret = Object.keys(properties).filter(name => properties[name]['x-secret'])
  if (secret.length > 0) return Object.fromEntries(secret.map(name => [name, { type: name === 'user' ? 'text' : 'password' }]))
}

/** @param {Property} property */
export const isNumber = ({ type }) => type === 'number' || type === 'integer'
/** @param {Property} property */
export const isTextList = ({ type, items }) => type === 'array' && !(items && 'properties' in items)
/** @param {Property} property */
export const isTable = property => tableItems(property) !== undefined
/** What the rows of a table are. @param {Property} property @returns {Schema|undefined} */
export const tableItems = ({ items }) => items && 'properties' in items ? items : undefined

/** @type {Record<'boolean'|'string'|'array', (property: Property, given: any) => {value?: any, problem?: string, warning?: string}>} */
const readers = {
  boolean ({ title }, given) {
    const value = { true: true, false: false }[String(given)]
    return value === undefined ? { problem: say('boolean', { title, given: quote(given) }) } : { value }
  },

  string (property, given) {
    const { title, default: usual, examples: [example] = [usual], minLength = 0, maxLength = Infinity, pattern = '' } = property
    const { 'x-maxBytes': maxBytes = Infinity } = property
    const value = String(given)
    if (typeof given === 'object') return { problem: say('text', { title }) }
    if (!isWholeText(value)) return { problem: say('noText', { title }) }
    if (value.length < minLength) return { problem: say('tooShort', { title, limit: grouped(minLength) }) }
    if (value.length > maxLength) {
      return { problem: say('tooLong', { title, limit: grouped(maxLength), length: grouped(value.length) }) }
    }
    const bytes = new TextEncoder().encode(value.replaceAll('{source}', '')).length
    if (bytes > maxBytes) return { problem: say('tooManyBytes', { title, limit: grouped(maxBytes), length: grouped(bytes) }) }
    if (!new RegExp(pattern, 'u').test(value)) return { problem: say('pattern', { title, example: String(example), given: quote(value) }) }
    return property['x-secret'] || value === value.trim() ? { value } : { value, warning: say('blanks', { title, given: quote(value) }) }
  },

  array (property, given) {
    const list = typeof given === 'string' ? given.split('\n').map(line => line.trim()).filter(line => line !== '') : given
    if (!Array.isArray(list)) return { problem: say('list', { title: property.title }) }
    const problem = lengthProblem(property, list.length)
    if (problem) return { problem }
    return isTable(property) ? readTable(property, list) : readList(property, list)
  }
}

/** @param {Property} property @param {number} length  of the list @returns {string|undefined} */
export function lengthProblem ({ title, minItems = 0, maxItems = Infinity }, length) {
  if (length < minItems) return say(minItems === 1 ? 'noEntry' : 'tooFew', { title, limit: grouped(minItems) })
  if (length > maxItems) return say('tooMany', { title, limit: grouped(maxItems), length: grouped(length) })
}

/** @param {Property} property @param {any[]} list @returns {{value?: any[], problem?: string}} */
function readList ({ title, items }, list) {
  const value = []
  for (const [index, item] of list.entries()) {
    const read = readOption(/** @type {Property} */ (items), item, true)
    if (read.problem) return { problem: say('entry', { title, n: index + 1, problem: read.problem }) }
    value.push(read.value)
  }
  return { value }
}

/** @param {Property} property @param {any[]} list @returns {{value?: any[], problem?: string}} */
function readTable (property, list) {
  const rows = list.map(item => readRow(/** @type {Schema} */ (property.items), item))
  const problems = tableProblems(property, rows)
  if (problems.length === 0) return { value: rows.map(({ value }) => value) }
  return { problem: tableSentence(property, problems) }
}

/** @param {Property} property @param {CellProblem[]} problems */
function tableSentence ({ title }, problems) {
  const [first, ...others] = problems.slice(0, MAX_LISTED)
  const more = problems.length - MAX_LISTED
  const told = [
    say('laterRow', { n: first.row + 1, problem: first.problem }),
    ...others.map(sentenceOf),
    ...more > 0 ? [say('more', { n: grouped(more) })] : []
  ].join(' ')
  return say('table', { title, rows: told })
}

/**
 * One row of a table.
 * @param {Schema} items
 * @param {any} item
 * @returns {ReadRow}
 */
export function readRow (items, item) {
  if (typeof item !== 'object' || item === null) return { problems: [{ problem: say('object', { given: quote(item) }) }] }
  const required = items.required?.filter(name => presetOf(items, item)[name] === undefined)
  const { options, problemOf } = readOptions({ ...items, required }, item)
  return { value: options, problems: Object.entries(problemOf).map(([column, problem]) => ({ column, problem })) }
}

/** What an empty cell of a row means, by column, where its preset says so. @param {Schema} items @param {Record<string, any>} row */
export function presetOf ({ 'x-presets': presets = {} }, { preset }) {
  return Object.hasOwn(presets, preset) ? presets[preset] : {}
}

/**
 * All that is wrong in a table, row by row.
 * @param {Property} property
 * @param {ReadRow[]} rows
 * @param {Record<string, any>} [options]  the others, where they are known
 * @returns {CellProblem[]}
 */
export function tableProblems (property, rows, options) {
  const own = rows.flatMap(({ problems }, row) => problems.map(problem => ({ row, ...problem })))
  const isBad = new Set(own.map(({ row, column }) => `${row} ${column}`))
  const clashes = options ? checked(property, rows.map(({ value = {} }) => value), options) : []
  const others = /** @type {CellProblem[]} */ (clashes.filter(({ row, column }) => row !== undefined && !isBad.has(`${row} ${column}`)))
  return [...own, ...duplicates(property, rows), ...others].sort((a, b) => a.row - b.row)
}

/**
 * Where rows have the value of an earlier row, and must not.
 * @param {Property} property
 * @param {ReadRow[]} rows
 * @returns {CellProblem[]}
 */
function duplicates ({ items, 'x-unique': unique = [] }, rows) {
  const titles = unique.map(column => /** @type {Schema} */ (items).properties[column].title)
  const firstRow = new Map()
  return rows.flatMap(({ value }, row) => {
    const cells = unique.map(column => value?.[column])
    const key = JSON.stringify(cells)
    if (cells.every(cell => cell === undefined)) return []
    if (firstRow.has(key)) {
      const given = cells.filter(cell => cell !== undefined).map(quote).join(', ')
      return [{ row, column: unique[0], problem: say('unique', { title: titles.join(', '), given, n: firstRow.get(key) + 1 }) }]
    }
    firstRow.set(key, row)
    return []
  })
}

/** "Row 17: Address must be …" @param {CellProblem} problem */
export function sentenceOf ({ row, problem }) {
  return say('row', { n: row + 1, problem })
}

/** @param {Property} property @param {unknown} given @returns {{value?: any, problem?: string, warning?: string}} */
function readNumber (property, given) {
  const text = typeof given === 'string' ? given.trim() : ''
  const value = text === '' ? given : Number(text)
  const complaint = numberComplaint(property, value, text)
  if (complaint) return { problem: say('number', { title: property.title, range: range(property), complaint }) }
  const warning = pointWarning(text)
  return warning ? { value, warning } : { value }
}

/** @param {Property} property @param {unknown} value @param {string} text  that has it */
function numberComplaint ({ type, minimum = -Number.MAX_VALUE, exclusiveMinimum = -Infinity, maximum = Number.MAX_VALUE }, value, text) {
  if (Number.isNaN(value)) return commaComplaint(text) ?? say('notNumber', { given: quote(text || value) })
  if (typeof value !== 'number') return say('notNumber', { given: quote(value) })
  if (type === 'integer' && !Number.isInteger(value)) return say('notWhole', { given: grouped(value) })
  if (value < minimum || value <= exclusiveMinimum) return say('tooSmall', { given: grouped(value) })
  if (value > maximum) return say('tooLarge', { given: grouped(value) })
}

/** "between 1 and 1,000,000 rows" @param {Property} property */
function range ({ type, minimum, exclusiveMinimum, maximum, 'x-unit': unit = '' }) {
  const above =
    minimum !== undefined
      ? say('atLeast', { limit: grouped(minimum) })
      : exclusiveMinimum !== undefined ? say('moreThan', { limit: grouped(exclusiveMinimum) }) : ''
  const below = maximum !== undefined ? say('atMost', { limit: grouped(maximum) }) : ''
  const both =
    minimum !== undefined && maximum !== undefined
      ? say('between', { minimum: grouped(minimum), maximum: grouped(maximum) })
      : above && below ? say('both', { one: above, other: below }) : above || below
  return `${both || say(type === 'integer' ? 'wholeNumber' : 'anyNumber')} ${unit}`.trimEnd()
}

/** @param {unknown} value */
function quote (value) {
  const text = String(typeof value === 'object' ? JSON.stringify(value) : value)
  return `"${text.length > 40 ? `${text.slice(0, 39)}…` : text}"`
}
