import { readdirSync, readFileSync } from 'node:fs'

/**
 * The languages of the editor besides English. `tools/languages/<code>.json` has each text by the English one; where a node needs another
 * word than the others, its type stands before: "sluice-modbus-device: Unit".
 */
export class Language {
  #texts
  /** @type {Set<string>} */
  #said = new Set()
  /** @type {Set<string>} */
  #missing = new Set()

  /** @param {string} code  as Node-RED names its folder of it: "de" @param {Record<string, string>} texts  by the English text */
  constructor (code, texts) {
    this.code = code
    this.#texts = texts
  }

  /** @param {string} english @param {string} [type]  of the node that says it @returns {string} in English where there is no other */
  say (english, type) {
    if (english === '') return ''
    const key = [`${type}: ${english}`, english].find(each => Object.hasOwn(this.#texts, each))
    if (key === undefined) this.#missing.add(english)
    else this.#said.add(key)
    return key === undefined ? english : this.#texts[key]
  }

  /** What is wrong with its file once everything has been said. @returns {string[]} sentences */
  get problems () {
    const file = `tools/languages/${this.code}.json`
    const keys = Object.keys(this.#texts)
    return [
      ...[...this.#missing].map(text => `${file} lacks ${JSON.stringify(text)}: add it with its translation.`),
      ...keys.filter(key => !this.#said.has(key)).map(key => `${file} has ${JSON.stringify(key)}, which nothing says any more: remove it.`),
      ...keys.flatMap(key => placeholderProblems(key, this.#texts[key]).map(problem => `${file}, ${JSON.stringify(key)}: ${problem}`))
    ]
  }
}

/** What says everything as it is written. */
export const english = new class extends Language {
  /** @override @param {string} text */
  say (text) { return text }
}('en-US', {})

/** All but English. @returns {Language[]} */
export function readLanguages () {
  const folder = new URL('languages/', import.meta.url)
  return readdirSync(folder).sort().map(file =>
    new Language(file.replace('.json', ''), JSON.parse(readFileSync(new URL(file, folder), 'utf8'))))
}

/**
 * What a catalogue by keys lacks that the English one has, and the other way round: that of the live page, where a text may have a form for
 * each grammatical number.
 * @param {string} file
 * @param {Record<string, string|Record<string, string>>} texts
 * @param {Record<string, string|Record<string, string>>} englishTexts
 * @returns {string[]} sentences
 */
export function catalogueProblems (file, texts, englishTexts) {
  return [
    ...Object.keys(englishTexts).filter(key => !(key in texts))
      .map(key => `${file} lacks "${key}": add it with a translation of ${JSON.stringify(englishTexts[key])}.`),
    ...Object.keys(texts).filter(key => !(key in englishTexts)).map(key => `${file} has "${key}", which nothing says any more: remove it.`),
    ...Object.keys(texts).filter(key => key in englishTexts)
      .flatMap(key => placeholderProblems(englishTexts[key], texts[key], /\{\w+\}/g).map(problem => `${file}, "${key}": ${problem}`))
  ]
}

/**
 * What is filled in later, and code, has to stay.
 * @param {string|Record<string, string>} text @param {string|Record<string, string>} translation @param {RegExp} [placeholder]
 */
function placeholderProblems (text, translation, placeholder = /__\w+?__|`[^`]+`/g) {
  const [wanted, given] = [text, translation].map(each => new Set(JSON.stringify(each).match(placeholder)))
  return [
    ...[...wanted].filter(each => !given.has(each)).map(lost => `the translation has lost ${lost}: put it where it belongs.`),
    ...[...given].filter(each => !wanted.has(each)).map(added => `the translation has ${added}, which the English lacks: remove it.`)
  ]
}
