/**
 * All texts of the page, by key, in the language of its reader. A text has places for values, as `{name}`; one that depends on a count is
 * an object of plural forms, chosen by `count`.
 *
 * @typedef {string|Record<string, string>} Text
 * @typedef {Record<string, string|number>} Values
 */

/** Each has a file in `locales/`; the first is complete, and stands in where another lacks something. */
const LANGUAGES = ['en-US', 'de']

/** @type {Record<string, Text>} */
let catalogue = {}
export let language = LANGUAGES[0]
let plural = new Intl.PluralRules(language)
let whole = new Intl.NumberFormat(language)

/** Before anything else is asked for. */
export async function loadTexts () {
  language = chosen(navigator.languages)
  document.documentElement.lang = language
  plural = new Intl.PluralRules(language)
  whole = new Intl.NumberFormat(language)
  const read = async (/** @type {string} */ name) => (await fetch(new URL(`locales/${name}.json`, import.meta.url))).json()
  catalogue = await read(LANGUAGES[0])
  if (language !== LANGUAGES[0]) Object.assign(catalogue, await read(language))
}

/** @param {string} key @param {Values} [values] @returns {string} the key, where nothing is known by it */
export function text (key, values = {}) {
  const found = catalogue[key] ?? key
  const form = typeof found === 'string' ? found : found[plural.select(Number(values.count))] ?? found.other
  return form.replace(/\{(\w+)\}/g, (place, name) => {
    const value = values[name]
    return typeof value === 'number' ? counted(value) : value ?? place
  })
}

/** @param {string} key */
export function hasText (key) { return Object.hasOwn(catalogue, key) }

/**
 * A whole number as its reader writes it, but for a point between thousands: rates beside it have one as decimal sign in every language.
 * @param {number} count
 */
export function counted (count) { return whole.format(count).replaceAll('.', '\u202f') }

/** What the page has in its HTML: `data-text` is the key of its text, `data-label` that of its name for screen readers. */
export function fillIn () {
  const all = (/** @type {string} */ name) => document.querySelectorAll(`[${name}]`)
  for (const each of all('data-text')) each.textContent = text(String(each.getAttribute('data-text')))
  for (const each of all('data-label')) each.setAttribute('aria-label', text(String(each.getAttribute('data-label'))))
  document.title = text('title')
}

/** @param {readonly string[]} wanted */
function chosen (wanted) {
  for (const name of wanted) {
    const [tongue] = name.split('-')
    const found = LANGUAGES.find(each => each === name) ?? LANGUAGES.find(each => each.split('-')[0] === tongue)
    if (found) return found
  }
  return LANGUAGES[0]
}
