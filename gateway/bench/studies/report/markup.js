/** Text that is markup already. */
export class Markup {
  /** @param {string} text */
  constructor (text) {
    this.text = text
  }

  toString () {
    return this.text
  }
}

/**
 * Markup of HTML or SVG. What is put into it is escaped unless it is markup itself, so that no text from outside becomes an element or
 * leaves its attribute, which has to stand in double quotes.
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values  lists are joined; null, undefined and false are nothing
 */
export function html (strings, ...values) {
  return new Markup(strings.reduce((text, string, i) => text + inserted(values[i - 1]) + string))
}

/** @param {string} text */
export function escape (text) {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** @param {unknown} value @returns {string} */
function inserted (value) {
  if (value instanceof Markup) return value.text
  if (Array.isArray(value)) return value.map(inserted).join('')
  return value === null || value === undefined || value === false ? '' : escape(String(value))
}
