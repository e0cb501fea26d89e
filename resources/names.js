import { grouped, say } from './sentences.js'

/** Characters of a name or unit. */
export const MAX_NAME = 255

/** The column of a batch that says why values are missing. */
export const QUALITY_FIELD = 'quality'

/** Why a value cannot have this name; null where it can. @param {string} name */
export function nameFault (name) {
  if (name === '') return say('noName')
  if (name === 'time') return say('timeName')
  return name.length > MAX_NAME ? say('longName', { limit: grouped(MAX_NAME) }) : null
}

/** Whether every broker, file and database gives it back as it was: no NUL, no half of a surrogate pair. @param {string} text */
export function isWholeText (text) {
  return !text.includes('\0') && text.isWellFormed()
}
