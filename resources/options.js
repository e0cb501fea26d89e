/**
 * What an option may be, and the words for what is wrong with one: the same in the editor's forms and in the gateway.
 * It knows the part of JSON Schema that the nodes' schemas use, and no more.
 *
 * @typedef {object} Property
 * @property {'string'|'integer'|'number'|'boolean'|'array'} type
 * @property {string} title
 * @property {string} [description]
 * @property {unknown} [default]  an empty field means this
 * @property {string[]} [enum]
 * @property {number} [minimum]
 * @property {number} [exclusiveMinimum]
 * @property {number} [maximum]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 * @property {string} [pattern]  of a text, whose default then shows what it looks like
 * @property {number} [minItems]
 * @property {number} [maxItems]
 * @property {Property|Schema} [items]  of an array: strings, or objects
 * @property {string} [x-unit]  of a number: "ms", "rows"
 * @property {boolean} [x-secret]  kept among Node-RED's credentials
 * @property {string} [x-node]  the type of the config node it refers to
 * @property {Record<string, unknown>} [x-when]  the options it depends on, each with the value or list of values under which it matters: elsewhere it is hidden, and its
 *   default holds; they come before it in the schema
 * @property {boolean} [x-advanced]  folded away in the form
 * @property {boolean} [x-pem]  a certificate or key: its text, or the path of a file
 * @property {Record<string, string>} [x-labels]  what the form calls the values of an enum; of other texts and of numbers, under '', what an empty field means
 *
 * @typedef {object} Schema
 * @property {'object'} type
 * @property {string} [title]
 * @property {string} [description]
 * @property {string[]} [required]
 * @property {Record<string, Property>} properties
 */

/**
 * @param {Schema} schema
 * @param {Record<string, unknown>} given  other keys than the schema's are left alone
 * @returns {{options: Record<string, any>, problems: string[]}} typed values, defaults filled in; each problem is a sentence
 */
export function readOptions (schema, given) {
  /** @type {Record<string, any>} */
  const options = {}
  const problems = []
  for (const [name, property] of Object.entries(schema.properties)) {
    const { value, problem } = readOption(property, applies(property, options) ? given[name] : undefined, schema.required?.includes(name))
    if (problem) problems.push(problem)
    if (value !== undefined) options[name] = value
  }
  return { options, problems }
}

/**
 * @param {Property} property
 * @param {unknown} given  as a form or a file has it: a number may come as text, a list of texts as lines
 * @param {boolean} [required]
 * @returns {{value?: any, problem?: string}}
 */
export function readOption (property, given, required = false) {
  if (given === undefined || given === null || given === '') {
    return property.default === undefined && required ? { problem: `${property.title} is missing.` } : { value: property.default }
  }
  if (property.enum) {
    const value = property.enum.find(choice => String(choice) === String(given))
    return value === undefined ? { problem: `${property.title} must be one of ${property.enum.join(', ')}; ${quote(given)} is none of them.` } : { value }
  }
  return isNumber(property) ? readNumber(property, given) : readers[/** @type {'boolean'|'string'|'array'} */ (property.type)](property, given)
}

/** Whether a property matters under these options. @param {Property} property @param {Record<string, unknown>} options */
export function applies (property, options) {
  return Object.entries(property['x-when'] ?? {}).every(([name, value]) => Array.isArray(value) ? value.includes(options[name]) : options[name] === value)
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
export const isTable = ({ items }) => items !== undefined && 'properties' in items

/** @type {Record<'boolean'|'string'|'array', (property: Property, given: any) => {value?: any, problem?: string}>} */
const readers = {
  boolean ({ title }, given) {
    const value = { true: true, false: false }[String(given)]
    return value === undefined ? { problem: `${title} must be true or false; ${quote(given)} is neither.` } : { value }
  },

  string ({ title, default: example, minLength = 0, maxLength = Infinity, pattern = '' }, given) {
    const value = String(given)
    if (typeof given === 'object') return { problem: `${title} must be a text.` }
    if (value.length < minLength) return { problem: `${title} must have at least ${plain(minLength)} characters.` }
    if (value.length > maxLength) return { problem: `${title} must have at most ${plain(maxLength)} characters; it has ${plain(value.length)}.` }
    if (!new RegExp(pattern, 'u').test(value)) return { problem: `${title} must look like ${example}; ${quote(value)} does not.` }
    return { value }
  },

  array ({ title, items, minItems = 0, maxItems = Infinity }, given) {
    const list = typeof given === 'string' ? given.split('\n').map(line => line.trim()).filter(line => line !== '') : given
    if (!Array.isArray(list)) return { problem: `${title} must be a list.` }
    if (list.length < minItems) return { problem: `${title} must have at least ${plain(minItems)} ${minItems === 1 ? 'entry' : 'entries'}.` }
    if (list.length > maxItems) return { problem: `${title} must have at most ${plain(maxItems)} entries; it has ${plain(list.length)}.` }
    const value = []
    for (const [index, item] of list.entries()) {
      const read = readItem(/** @type {Property|Schema} */ (items), item)
      if (read.problem) return { problem: `${title}, entry ${index + 1}: ${read.problem}` }
      value.push(read.value)
    }
    return { value }
  }
}

/** @param {Property|Schema} items @param {any} item @returns {{value?: any, problem?: string}} */
function readItem (items, item) {
  if (!('properties' in items)) return readOption(items, item)
  if (typeof item !== 'object' || item === null) return { problem: `${quote(item)} is not an object.` }
  const { options, problems } = readOptions(items, item)
  return problems.length > 0 ? { problem: problems.join(' ') } : { value: options }
}

/** @param {Property} property @param {unknown} given @returns {{value?: any, problem?: string}} */
function readNumber (property, given) {
  const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  const complaint = Number.isNaN(value) ? `${quote(given)} is not a number` : numberComplaint(property, value)
  return complaint ? { problem: `${property.title} must be ${range(property)}; ${complaint}.` } : { value }
}

/** @param {Property} property @param {unknown} value */
function numberComplaint ({ type, minimum = -Number.MAX_VALUE, exclusiveMinimum = -Infinity, maximum = Number.MAX_VALUE }, value) {
  if (typeof value !== 'number') return `${quote(value)} is not a number`
  if (type === 'integer' && !Number.isInteger(value)) return `${plain(value)} is not a whole number`
  if (value < minimum || value <= exclusiveMinimum) return `${plain(value)} is too small`
  if (value > maximum) return `${plain(value)} is too large`
}

/** "between 1 and 1,000,000 rows" @param {Property} property */
function range ({ type, minimum, exclusiveMinimum, maximum, 'x-unit': unit = '' }) {
  const above = minimum !== undefined ? `at least ${plain(minimum)}` : exclusiveMinimum !== undefined ? `more than ${plain(exclusiveMinimum)}` : ''
  const below = maximum !== undefined ? `at most ${plain(maximum)}` : ''
  const both = minimum !== undefined && maximum !== undefined ? `between ${plain(minimum)} and ${plain(maximum)}` : [above, below].filter(Boolean).join(' and ')
  return `${both || (type === 'integer' ? 'a whole number' : 'a number')} ${unit}`.trimEnd()
}

/** @param {number} number */
function plain (number) {
  return number.toLocaleString('en-US', { maximumFractionDigits: 20 })
}

/** @param {unknown} value */
function quote (value) {
  const text = String(typeof value === 'object' ? JSON.stringify(value) : value)
  return `"${text.length > 40 ? `${text.slice(0, 39)}…` : text}"`
}
