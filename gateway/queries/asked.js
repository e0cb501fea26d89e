import { SluiceError } from '../base/errors.js'
import { queryNamed, resultProperties } from './run.js'

/** Parameters that together define the time range of a query. */
const RANGE = ['from', 'to', 'at', 'windowMinutes']

/**
 * The query that a message requests, completed from the form: the message wins. A message that says anything about the time replaces all of
 * the form's, except the length of the window.
 * @param {{query: string, [option: string]: unknown}} form
 * @param {unknown} asked  `{name, sensors, from, to, …}`: all of it is optional
 * @returns {{name: string, [parameter: string]: unknown}} including those of `resultProperties`
 * @throws {SluiceError} SLUICE_QUERY_MESSAGE, SLUICE_QUERY_NAME
 */
export function queryAsked ({ query, ...form }, asked = {}) {
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) {
    throw new SluiceError(
      'SLUICE_QUERY_MESSAGE',
      `msg.query is ${Array.isArray(asked) ? 'a list' : asked === null ? 'null' : `a ${typeof asked}`}.`,
      { fix: 'Make it an object such as {name: "raw", sensors: ["temperature"]}, or leave it out.' }
    )
  }
  const { name = query, ...parameters } = /** @type {Record<string, any>} */ (asked)
  const known = [...Object.keys(queryNamed(name).schema.properties), ...Object.keys(resultProperties)]
  const unknown = Object.keys(parameters).filter(key => !known.includes(key))
  if (unknown.length > 0) {
    throw new SluiceError(
      'SLUICE_QUERY_MESSAGE',
      `msg.query has ${unknown.map(key => `"${key}"`).join(', ')}, which the query "${name}" does not know.`,
      { fix: `It knows ${known.join(', ')}.` }
    )
  }
  const fromForm = RANGE.some(key => key in parameters) ? { ...form, from: undefined, to: undefined, at: undefined } : form
  return { ...fromForm, ...parameters, name }
}
