/**
 * The flow as others may see it. Of our own nodes the options that their schemas know, but those that are secret; of the nodes of others,
 * whose options nobody here knows, only what they are and how they are wired: a token in the code of a function cannot be told from the
 * rest of it.
 *
 * @typedef {import('../flow.js').Config} Config
 */

const STRUCTURE = ['id', 'type', 'z', 'g', 'd', 'name', 'label', 'disabled', 'wires', 'links', 'x', 'y']

/** @param {Config[]} nodes @param {import('../flow.js').SchemaOf} schemaOf @returns {Promise<object[]>} */
export function outlineOf (nodes, schemaOf) {
  return Promise.all(nodes.map(async node => {
    const properties = (await schemaOf(node.type))?.properties ?? {}
    const shown = Object.keys(properties).filter(name => !properties[name]['x-secret'])
    const entries = Object.entries(node).filter(([name]) => STRUCTURE.includes(name) || shown.includes(name))
    const leftOut = Object.keys(node).filter(name => !entries.some(([each]) => each === name))
    return { ...Object.fromEntries(entries), ...leftOut.length > 0 && { leftOut } }
  }))
}
