import { escaped } from '../../messages/codecs/warp10/text.js'

/** Selectors of series, by class and labels. Every character is written as its number: a selector's own letters have a meaning. */

/** @param {string} className @param {Record<string, string>} labels */
export const exactly = (className, labels) => `=${escaped(className)}{${labelsText(labels)}}`

/** Of any class. @param {Record<string, string>} labels */
export const all = labels => `~.*{${labelsText(labels)}}`

/** @param {Record<string, string>} labels */
function labelsText (labels) {
  return Object.entries(labels).map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join(',')
}
