import { QUALITY_FIELD } from '../../resources/names.js'

/**
 * Why values are missing. A value that is bad or stale is missing in its batch (validity 0), and the row's text in the field `quality` says
 * why: "timeout" where one reason holds for all values of the row, else "flow: exception 2; level: not a number". A batch in which nothing
 * is bad has no such field.
 */

export { QUALITY_FIELD }

/**
 * The text of one row; undefined where all is good.
 * @param {Map<string, string>} reasons  by the name of the missing value's field
 * @param {number} values  how many the row would have
 * @returns {string|undefined}
 */
export function qualityText (reasons, values) {
  if (reasons.size === 0) return undefined
  const [first, ...others] = reasons.values()
  if (reasons.size === values && others.every(reason => reason === first)) return first
  return Array.from(reasons, ([name, reason]) => `${name}: ${reason}`).join('; ')
}

/**
 * The field, column and validity of the rows' texts, to be appended to a batch's others.
 * @param {(string|undefined)[]} texts  one a row
 * @returns {{field: import('./batch.js').Field, column: string[], validity: Uint8Array|null}|null} null where all is good
 */
export function qualityColumn (texts) {
  if (texts.every(text => text === undefined)) return null
  return {
    field: { name: QUALITY_FIELD, type: 'string' },
    column: texts.map(text => text ?? ''),
    validity: texts.every(text => text !== undefined) ? null : Uint8Array.from(texts, text => text === undefined ? 0 : 1)
  }
}
