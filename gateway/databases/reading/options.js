import { withDefaults } from '../../base/defaults.js'
import { SluiceError } from '../../base/errors.js'

/**
 * A reader's options, with their defaults. A layout that the reader does not know is an error: it would find nothing where there is
 * something.
 * @param {{properties: {layout: {enum: readonly string[]}}}} schema
 * @param {object} given
 * @returns {any}
 * @throws {SluiceError} SLUICE_OPTIONS
 */
export function readerOptions (schema, given) {
  const options = withDefaults(/** @type {any} */ (schema), given)
  const { enum: layouts } = schema.properties.layout
  if (layouts.includes(options.layout)) return options
  throw new SluiceError('SLUICE_OPTIONS', `The layout "${options.layout}" cannot be read from this database.`, {
    fix: `Set the one that the sink has, of ${layouts.join(', ')}; what it stores as upsert or timeseries is read as wide.`
  })
}
