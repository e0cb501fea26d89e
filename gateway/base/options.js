import { SluiceError } from './errors.js'
import { readOptions as read } from '../../resources/options.js'

/**
 * @typedef {import('../../resources/options.js').Schema} Schema
 */

/**
 * The options of a node or module: typed, defaults filled in, all else in the configuration left out.
 * @param {object} schema  a JSON Schema in the part of the language that `resources/options.js` states
 * @param {object} config  as a flow or a file has it
 * @param {{credentials?: object}} [more]  the secret options, which Node-RED keeps apart
 * @returns {any} one value per property; those without value and default are missing
 * @throws {SluiceError} SLUICE_OPTIONS, saying all that is wrong
 */
export function readOptions (schema, config, { credentials = {} } = {}) {
  const { options, problems } = read(/** @type {Schema} */ (schema), { ...config, ...credentials })
  if (problems.length > 0) throw new SluiceError('SLUICE_OPTIONS', problems.join(' '), { details: { problems } })
  return options
}
