/**
 * The options of a node, put together from those of its parts.
 *
 * @typedef {import('../resources/options.js').Property} Property
 * @typedef {import('../resources/options.js').Schema} Schema
 */

/** @type {Property} */
export const nameProperty = {
  type: 'string',
  title: 'Name',
  description: 'What the node is called in the flow.',
  default: ''
}

/**
 * @param {...{properties: object, required?: string[]}} parts  a later part's property takes the place of an earlier one's
 * @returns {Schema}
 */
export function nodeSchema (...parts) {
  const schemas = /** @type {Schema[]} */ (parts)
  return {
    type: 'object',
    required: schemas.flatMap(({ required = [] }) => required),
    properties: Object.assign({ name: nameProperty }, ...schemas.map(({ properties }) => properties))
  }
}
