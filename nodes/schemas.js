import { readFileSync } from 'node:fs'

/** @type {{'node-red': {nodes: Record<string, string>}}} */
const { 'node-red': { nodes } } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/**
 * The options of a type of node, without the node.
 * @param {string} type  as in a flow
 * @returns {Promise<import('../resources/options.js').Schema|undefined>} undefined of nodes of others
 */
export async function schemaOf (type) {
  const file = Object.hasOwn(nodes, type.replace(/^sluice-/, '')) && type.startsWith('sluice-') && nodes[type.slice('sluice-'.length)]
  return file ? (await import(`../${file.replace(/\.js$/, '.schema.js')}`)).schema : undefined
}
