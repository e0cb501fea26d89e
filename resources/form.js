import { credentialsOf, isNumber, isTable, isTextList } from './options.js'

/**
 * @typedef {import('./options.js').Schema} Schema
 * @typedef {import('./options.js').Property} Property
 */

/**
 * The markup of a form. All texts come from the catalogue; `data-option` names the option of a row.
 * @param {string} type
 * @param {Schema} schema
 * @param {string} prefix  of the inputs' ids
 * @param {{hasTest: boolean, hasReports: boolean}} more  whether it has a button that tries the connection, a list of reports
 */
export function formOf (type, schema, prefix, { hasTest, hasReports }) {
  const rows = (/** @type {boolean} */ advanced) => Object.entries(schema.properties)
    .filter(([, property]) => Boolean(property['x-advanced']) === advanced)
    .map(([name]) => row(type, name, schema, `${prefix}-${name}`)).join('')
  const folded = rows(true)
  const details = `<details class="sluice-advanced"><summary data-i18n="${type}.form.advanced"></summary>${folded}</details>`
  return rows(false) + (folded && details) + (hasTest ? testRow(type) : '') + (hasReports ? reportsRow(type) : '')
}

/** @param {string} type */
function testRow (type) {
  return `
    <div class="form-row sluice-test">
      <button type="button" class="red-ui-button" data-i18n="${type}.form.test"></button>
      <p class="sluice-test-result" role="status"></p>
    </div>`
}

/** @param {string} type */
function reportsRow (type) {
  return `
    <div class="form-row sluice-reports">
      <header><strong data-i18n="${type}.form.reports"></strong>
      <button type="button" class="red-ui-button red-ui-button-small" data-i18n="${type}.form.reportsRefresh"></button></header>
      <div class="sluice-reports-list" role="status"></div>
    </div>`
}

/** @param {string} type @param {string} name @param {Schema} schema @param {string} id */
function row (type, name, schema, id) {
  const key = `${type}.options.${name}`
  const property = schema.properties[name]
  const unit = property['x-unit'] ? `<span class="sluice-unit" data-i18n="${key}.unit"></span>` : ''
  return `
    <div class="form-row sluice-row${isTable(property) ? ' sluice-row-wide' : ''}" data-option="${name}">
      <label for="${id}" data-i18n="${key}.title;[title]${key}.description"></label>
      <div class="sluice-field">${input(type, name, schema, id)}${unit}</div>
      <p class="sluice-problem" role="alert"></p>${property['x-dbc'] ? '<div class="sluice-check" role="status"></div>' : ''}
    </div>`
}

/** @param {string} type @param {string} name @param {Schema} schema @param {string} id */
function input (type, name, schema, id) {
  const property = schema.properties[name]
  const key = `${type}.options.${name}`
  const placeholder = placeholderOf(type, name, property)
  if (property.enum) {
    const choices = property.enum.map(value => `<option value="${escape(value)}" data-i18n="${key}.${choiceKey(value)}"></option>`)
    return `<select id="${id}">${choices.join('')}</select>`
  }
  if (property.type === 'boolean') return `<input type="checkbox" id="${id}">`
  if (isNumber(property)) return `<input type="text" inputmode="decimal" class="sluice-number" id="${id}" ${placeholder}>`
  if (isTable(property)) return `<div class="sluice-table" id="${id}-table"></div>`
  if (isTextList(property) || property['x-pem']) {
    return `<textarea rows="2" id="${id}" data-i18n="[placeholder]${type}.form.${isTextList(property) ? 'lines' : 'pem'}"></textarea>`
  }
  const check = property['x-dbc'] ? `<button type="button" class="red-ui-button" data-i18n="${type}.form.checkDbc"></button>` : ''
  return `<input type="${credentialsOf(schema)?.[name]?.type ?? 'text'}" style="width: 100%" id="${id}" ${placeholder}>${check}`
}

/** Where the catalogue has a choice's text, below its option: keys are parted by dots, and none is empty. @param {string|number} choice */
export function choiceKey (choice) {
  return choice === '' ? 'empty' : `choices.${String(choice).replaceAll('.', '_')}`
}

/** What an empty field means. @param {string} type @param {string} name @param {Property} property */
function placeholderOf (type, name, property) {
  if (name === 'name' && !property.default) return `data-i18n="[placeholder]${type}.label"`
  if (property['x-labels']) return `data-i18n="[placeholder]${type}.options.${name}.empty"`
  return `placeholder="${escape(property.default ?? '')}"`
}

/** @param {unknown} text */
function escape (text) {
  return String(text).replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
