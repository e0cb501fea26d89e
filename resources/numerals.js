import { say } from './sentences.js'

/**
 * What people write for a number who part decimals by a comma, or thousands by a point or comma. None of it is guessed.
 */

/** With two marks or more it is clear which one parts the decimals: of these, the comma, or the point. */
const GERMAN = /^[-+]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})$/
const ENGLISH = /^[-+]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})$/

/** @param {string} text  that is no number @returns {string|undefined} what is wrong with it, and how it is written */
export function commaComplaint (text) {
  const given = `"${text}"`
  if (GERMAN.test(text)) return say('written', { given, meant: text.replaceAll('.', '').replace(',', '.') })
  if (ENGLISH.test(text)) return say('written', { given, meant: text.replaceAll(',', '') })
  if (/^[-+]?[1-9]\d{0,2},\d{3}$/.test(text)) {
    return say('ambiguous', { given, decimal: Number(text.replace(',', '.')), thousands: text.replace(',', '') })
  }
  if (/^[-+]?\d*,\d+$/.test(text)) return say('comma', { given, meant: text.replace(',', '.') })
}

/** @param {string} text  that is a number @returns {string|undefined} what it may not have been meant to be */
export function pointWarning (text) {
  if (!/^[-+]?[1-9]\d{0,2}\.\d{2}0$/.test(text)) return
  return say('readAs', { given: `"${text}"`, value: Number(text), thousands: text.replace('.', '') })
}
