// Loaded by the live page as well as by Node: uses nothing specific to either.

/**
 * What is said, in whatever language: a text as it is, one of a catalogue with what is filled in, or several after one another. A text of
 * a catalogue has places for values, as `{name}`; one that depends on a count is an object of plural forms, chosen by `count`.
 *
 * @typedef {string|Keyed|(string|Keyed)[]} Phrase
 * @typedef {object} Keyed
 * @property {string} key
 * @property {Values} [values]
 *
 * @typedef {{[name: string]: Phrase|number}} Values
 * @typedef {Record<string, string|Record<string, string>>} Catalogue
 */

/** @param {string} key @param {Values} [values] @returns {Keyed} */
export function phrase (key, values) { return values ? { key, values } : { key } }

/**
 * A phrase whose key is the English text, over several lines if it is long: said`Its queue holds ${count} frames.`
 * @param {TemplateStringsArray} texts @param {(Phrase|number)[]} values @returns {Keyed}
 */
export function said (texts, ...values) {
  const key = texts.reduce((text, next, i) => `${text}{${i - 1}}${next}`).replace(/\s*\n\s*/g, ' ')
  return phrase(key, Object.fromEntries(values.map((value, i) => [i, typeof value === 'number' ? String(value) : value])))
}

/**
 * Says phrases in one language. What the catalogue lacks is said as its key.
 * @param {Catalogue} catalogue
 * @param {string} language
 * @param {(value: number) => string} [number]  how one is written
 * @returns {(phrase: Phrase) => string}
 */
export function speaker (catalogue, language, number = String) {
  const plural = new Intl.PluralRules(language)
  /** @param {Phrase} given @returns {string} */
  function say (given) {
    if (typeof given === 'string') return given
    if (Array.isArray(given)) return given.map(say).join(', ')
    const { key, values = {} } = given
    const found = catalogue[key] ?? key
    const form = typeof found === 'string' ? found : found[plural.select(Number(values.count))] ?? found.other
    return form.replace(/\{(\w+)\}/g, (place, name) => {
      const value = values[name] ?? place
      return typeof value === 'number' ? number(value) : say(value)
    })
  }
  return say
}
