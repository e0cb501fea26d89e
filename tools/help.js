import { alarmNames } from './alarm-table.js'

/**
 * The help of a node in the editor: its own text, `nodes/<file>.md`, with its options where that says so.
 *
 * @typedef {import('./languages.js').Language} Language
 * @typedef {import('../resources/options.js').Schema} Schema
 * @typedef {import('../resources/options.js').Property} Property
 */

/** Code, or lines up to an empty one. */
const BLOCK = /^```[^]*?^```$|(?:^.+\n?)+/gm

/** Before each entry of a list, row of a table, property of messages. */
const ENTRY = /\n(?=- |\d\. |\||: )/

/** What begins a list's entry, a table's row, a heading, a property of messages: "- ", "1. ", ": payload (batch) : ". */
const MARK = /^(?:- |\d\. |#+ |: \w+ \([^)]*\) : )?/

/**
 * @param {string} text  Markdown
 * @param {{type: string, schema: Schema, language: Language}} node
 * @returns {string}
 */
export function help (text, { type, schema, language }) {
  const say = (/** @type {string} */ english) => language.say(english, type)
  return translated(text, say)
    .replace('<!-- options -->', () => optionList(schema, say))
    .replace('<!-- kinds -->', alarmNames)
    .trim()
}

/**
 * Paragraph by paragraph; entries of lists and rows of tables are some of their own, and code stays.
 * @param {string} markdown @param {Say} say
 */
function translated (markdown, say) {
  const blocks = /** @type {string[]} */ (markdown.match(BLOCK)).map(block => block.trim())
  return blocks.map(block =>
    block.startsWith('```') ? block : block.split(ENTRY).map(line => translatedLine(line, say)).join('\n')
  ).join('\n\n')
}

/** @param {string} wrapped @param {Say} say */
function translatedLine (wrapped, say) {
  const line = wrapped.replace(/\n\s*/g, ' ')
  const [mark] = /** @type {RegExpExecArray} */ (MARK.exec(line))
  const text = line.slice(mark.length)
  return /^(<!--.*-->|[-|]+|`[^`]+`)$/.test(text) ? line : mark + say(text)
}

/** Options in the same words, which the form shows one at a time, are one. @param {Schema} schema @param {Say} say @returns {string} */
function optionList ({ properties }, say) {
  const options = Object.values(properties).map(property => option(property, say))
  return ['<dl class="message-properties sluice-options">', ...new Set(options), '</dl>'].join('\n')
}

/** @param {Property} property @param {Say} say */
function option (property, say) {
  const { title, description = '', items } = property
  const inner = items && 'properties' in items ? `\n${optionList(items, say)}\n` : ''
  return `<dt>${html(say(title))} <span class="property-type">${html(facts(property, say))}</span></dt>\n` +
    `<dd>${html(say(description))}${inner}</dd>`
}

/**
 * Limits, unit and default.
 * @param {Property} property
 * @param {Say} say
 */
function facts ({ type, default: value, minimum, maximum, 'x-unit': unit, 'x-labels': labels, 'x-secret': secret, 'x-node': node }, say) {
  if (node) return say('node')
  if (secret) return say('kept as credential')
  if (type === 'boolean') return say(value ? 'on' : 'off')
  const grouped = (/** @type {number} */ number) => number.toLocaleString('en-US').replaceAll(',', say(','))
  const isLimited = minimum !== undefined && maximum !== undefined
  const hasDefault = value !== undefined && value !== '' && typeof value !== 'object'
  const label = labels?.[String(value)]
  const shown = label === undefined ? (unit ? grouped(Number(value)) : String(value)) : say(label)
  return [
    ...(unit ? [say(unit)] : []),
    ...(isLimited ? [`${grouped(minimum)} … ${grouped(maximum)}`] : []),
    ...(hasDefault ? [say('default __value__').replace('__value__', () => shown)] : [])
  ].join(', ')
}

/** @param {string} text */
function html (text) {
  return text.replace(/[&<>]/g, character => `&#${character.charCodeAt(0)};`)
}

/** @typedef {(english: string) => string} Say */
