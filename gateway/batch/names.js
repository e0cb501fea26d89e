import { isWholeText } from '../../resources/names.js'

/** Whether a text can be a name. @param {string} name */
export function isName (name) {
  return name !== '' && isWholeText(name)
}
