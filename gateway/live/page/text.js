import { phrase, speaker } from '../../stats/phrases.js'

/**
 * All texts of the page, by key, in the language of its reader; and those of alarms, which the gateway says in English, too.
 *
 * @typedef {import('../../stats/phrases.js').Catalogue} Catalogue
 * @typedef {import('../../stats/alarm.js').Alarm} Alarm
 */

/** Each has a file in `locales/`, here and in `stats/`; the first is complete, and stands in where another lacks something. */
const LANGUAGES = ['en-US', 'de']

/** @type {Catalogue} */
let catalogue = {}
export let language = LANGUAGES[0]
let whole = new Intl.NumberFormat(language)
let say = speaker(catalogue, language, counted)
let sayOfAlarm = say
/** @type {Catalogue} */
let alarmTexts = {}
let sayOfDoctor = say

/** Before anything else is asked for. */
export async function loadTexts () {
  language = chosen(navigator.languages)
  document.documentElement.lang = language
  whole = new Intl.NumberFormat(language)
  const languages = [...new Set([LANGUAGES[0], language])]
  const [texts, ofAlarms] = await Promise.all(['locales', '../../stats/locales'].map(folder => read(folder, languages)))
  catalogue = texts
  alarmTexts = ofAlarms
  say = speaker(texts, language, counted)
  sayOfAlarm = speaker(alarmTexts, language, counted)
}

/** After `loadTexts`, on the doctor's page. */
export async function loadDoctorTexts () {
  const others = LANGUAGES.slice(1).filter(name => name === language) // the English texts are the keys
  sayOfDoctor = speaker({ ...alarmTexts, ...await read('../../doctor/locales', others) }, language, counted)
}

/** @param {string} folder @param {string[]} languages @returns {Promise<Catalogue>} */
async function read (folder, languages) {
  const files = languages.map(name => fetch(new URL(`${folder}/${name}.json`, import.meta.url)))
  return Object.assign({}, ...await Promise.all(files.map(async file => (await file).json())))
}

/** @param {string} key @param {import('../../stats/phrases.js').Values} [values] @returns {string} the key, where nothing is known by it */
export function text (key, values) { return say(phrase(key, values)) }

/** An alarm in the language of its reader; what it was told by others stays as it is. @param {Alarm} alarm @returns {Alarm} */
export function translated (alarm) {
  const said = Object.entries(alarm.phrases ?? {}).map(([part, its]) => [part, sayOfAlarm(its)])
  return { ...alarm, ...Object.fromEntries(said) }
}

/** What the doctor says; messages of databases and the like stay as they are. @param {import('../../stats/phrases.js').Phrase} said */
export function doctorText (said) { return sayOfDoctor(said) }

/** @param {string} key */
export function hasText (key) { return Object.hasOwn(catalogue, key) }

/**
 * A whole number as its reader writes it, but for a point between thousands: rates beside it have one as decimal sign in every language.
 * @param {number} count
 */
export function counted (count) { return whole.format(count).replaceAll('.', '\u202f') }

/** What the page has in its HTML: `data-text` is the key of its text, `data-label` that of its name for screen readers. */
export function fillIn (title = 'title') {
  const all = (/** @type {string} */ name) => document.querySelectorAll(`[${name}]`)
  for (const each of all('data-text')) each.textContent = text(String(each.getAttribute('data-text')))
  for (const each of all('data-label')) each.setAttribute('aria-label', text(String(each.getAttribute('data-label'))))
  document.title = text(title)
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
