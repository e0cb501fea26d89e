import { isNumber } from './options.js'

/** Widths of columns, in characters. */
const NARROWEST = 7
const TEXT = 16

/** @param {import('./options.js').Property} property @returns {number} of its column, in characters */
export function widthOf (property) {
  const title = titleOf(property).length + 1
  if (property.enum) return Math.max(NARROWEST, title, ...choicesOf(property).map(([, text]) => text.length)) + 3
  if (property.type === 'boolean') return Math.max(NARROWEST, title)
  return Math.max(isNumber(property) || property.maxLength <= TEXT ? NARROWEST : TEXT, title) + 1
}

/** With its unit. @param {import('./options.js').Property} property */
export function titleOf ({ title, 'x-unit': unit }) {
  return unit ? `${title} (${unit})` : title
}

/**
 * What a cell says when it is not edited.
 * @param {import('./options.js').Property} property
 * @param {unknown} given
 * @returns {{text: string, isDefault: boolean}}
 */
export function textOf (property, given) {
  const isDefault = given === undefined || given === null || given === ''
  const value = isDefault ? property.default ?? '' : given
  if (isDefault && property['x-labels']?.['']) return { text: property['x-labels'][''], isDefault }
  if (property.type === 'boolean') return { text: { true: '✓', false: '' }[String(value)] ?? String(value), isDefault }
  return { text: property['x-labels']?.[value] ?? String(value), isDefault }
}

/** @param {import('./options.js').Property} property @param {unknown} given @returns {HTMLElement} the field that edits it */
export function fieldOf (property, given) {
  const field = property.enum ? choice(property, given) : property.type === 'boolean' ? checkbox(property, given) : line(property, given)
  field.setAttribute('aria-label', titleOf(property))
  return field
}

/** @param {HTMLElement} field @returns {string|boolean} */
export function valueOf (field) {
  return field.type === 'checkbox' ? field.checked : field.value
}

function line (property, given) {
  const { text, isDefault } = textOf(property, given)
  return Object.assign(document.createElement('input'), { type: 'text', size: 1, ...(isNumber(property) ? { inputMode: 'decimal' } : {}), value: isDefault ? '' : given, placeholder: isDefault ? text : String(property.default ?? '') })
}

function checkbox (property, given) {
  return Object.assign(document.createElement('input'), { type: 'checkbox', checked: String(given ?? property.default) === 'true' })
}

/** One that is none of the choices is kept, and seen, until another is chosen. */
function choice (property, given) {
  const chosen = String(given === undefined || given === '' ? property.default ?? '' : given)
  const choices = choicesOf(property)
  const all = choices.some(([value]) => String(value) === chosen) ? choices : [[chosen, chosen], ...choices]
  const field = document.createElement('select')
  field.append(...all.map(([value, text]) => new Option(text, value, false, String(value) === chosen)))
  return field
}

function choicesOf (property) {
  return property.enum.map(value => [value, property['x-labels']?.[value] ?? String(value)])
}
