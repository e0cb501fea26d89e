/**
 * What people write for a number who part decimals by a comma, or thousands by a point or comma. None of it is guessed.
 */

/** With two marks or more it is clear which one parts the decimals: of these, the comma, or the point. */
const GERMAN = /^[-+]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})$/
const ENGLISH = /^[-+]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})$/

/** @param {string} text  that is no number @returns {string|undefined} what is wrong with it, and how it is written */
export function commaComplaint (text) {
  if (GERMAN.test(text)) return `"${text}" is written ${text.replaceAll('.', '').replace(',', '.')}`
  if (ENGLISH.test(text)) return `"${text}" is written ${text.replaceAll(',', '')}`
  if (/^[-+]?[1-9]\d{0,2},\d{3}$/.test(text)) {
    return `"${text}" may be ${Number(text.replace(',', '.'))} or ${text.replace(',', '')}: write the one that is meant`
  }
  if (/^[-+]?\d*,\d+$/.test(text)) return `"${text}" needs a point: ${text.replace(',', '.')}`
}

/** @param {string} text  that is a number @returns {string|undefined} what it may not have been meant to be */
export function pointWarning (text) {
  if (!/^[-+]?[1-9]\d{0,2}\.\d{2}0$/.test(text)) return
  return `"${text}" is read as ${Number(text)}: write ${text.replace('.', '')} if that is meant.`
}
