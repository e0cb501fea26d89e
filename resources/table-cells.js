import { isEmpty, isNumber, isTextList } from './options.js'

/** Widths of columns, in characters. */
const NARROWEST = 7
const TEXT = 16
/** At most, for the longest choice. */
const CHOICE = 20

/** @type {Record<string, string>} */
const CHECKMARKS = { true: '✓', false: '' }

/** @typedef {HTMLInputElement|HTMLSelectElement|HTMLTextAreaElement} Field */
/** @typedef {import('./options.js').Property} Property */

/** @param {Property} property @returns {number} of its column, in characters */
export function widthOf (property) {
  const title = titleOf(property).length + 1
  const longest = Math.max(...choicesOf(property).map(([, text]) => text.length))
  if (property.enum) return Math.max(NARROWEST, title, Math.min(CHOICE, longest)) + 3
  if (property.type === 'boolean') return Math.max(NARROWEST, title)
  const example = (property.examples?.[0].length ?? 0) + 2
  return Math.max(isNumber(property) || (property.maxLength ?? Infinity) <= TEXT ? NARROWEST : TEXT, example, title) + 1
}

/** With its unit. @param {Property} property */
export function titleOf ({ title, 'x-unit': unit }) {
  return unit ? `${title} (${unit})` : title
}

/**
 * What a cell says when it is not edited.
 * @param {Property} property
 * @param {unknown} given
 * @returns {{text: string, isDefault: boolean}}
 */
export function textOf (property, given) {
  const isDefault = isEmpty(given) || (Array.isArray(given) && given.length === 0)
  const value = isDefault ? property.default ?? '' : given
  if (isDefault && property['x-labels']?.['']) return { text: property['x-labels'][''], isDefault }
  if (isTextList(property)) return { text: Array.isArray(value) ? value.join('\n') : String(value), isDefault }
  if (property.type === 'boolean') return { text: CHECKMARKS[String(value)] ?? String(value), isDefault }
  return { text: property['x-labels']?.[String(value)] ?? String(value), isDefault }
}

/** @param {Property} property @param {unknown} given @returns {Field} that edits it */
export function fieldOf (property, given) {
  const field = property.enum ? choice(property, given) : property.type === 'boolean' ? checkbox(property, given) : line(property, given)
  field.setAttribute('aria-label', titleOf(property))
  return field
}

/** @param {Field} field @returns {string|boolean} */
export function valueOf (field) {
  return 'checked' in field && field.type === 'checkbox' ? field.checked : field.value
}

/** Several where it is a list. @param {Property} property @param {unknown} given */
function line (property, given) {
  const { text, isDefault } = textOf(property, given)
  const field = isTextList(property)
    ? Object.assign(document.createElement('textarea'), { rows: 2 })
    : Object.assign(document.createElement('input'), { type: 'text', size: 1, ...isNumber(property) && { inputMode: 'decimal' } })
  return Object.assign(field, { value: isDefault ? '' : text, placeholder: placeholderOf(property) })
}

/** What an empty field means. @param {Property} property */
export function placeholderOf (property) {
  return textOf(property, undefined).text
}

/** @param {Property} property @param {unknown} given */
function checkbox (property, given) {
  return Object.assign(document.createElement('input'), { type: 'checkbox', checked: String(given ?? property.default) === 'true' })
}

/** One that is not among the choices is kept, and seen, until another is chosen. @param {Property} property @param {unknown} given */
function choice (property, given) {
  const chosen = String(given === undefined || given === '' ? property.default ?? '' : given)
  const choices = choicesOf(property)
  const all = choices.some(([value]) => value === chosen) ? choices : [[chosen, chosen], ...choices]
  const field = document.createElement('select')
  field.append(...all.map(([value, text]) => new Option(text, value, false, value === chosen)))
  return field
}

/** @param {Property} property @returns {[value: string, text: string][]} */
function choicesOf (property) {
  return (property.enum ?? []).map(value => [String(value), property['x-labels']?.[value] ?? String(value)])
}
