import { SluiceError } from '../gateway/base/errors.js'

/** @typedef {{id?: unknown, options?: Record<string, unknown>}} FormNode  a config node's id, and its options as the editor has them */

/** What the editor's form has in the place of a password that Node-RED keeps. */
const KEPT_PASSWORD = '__PWRD__'

/** The options that say which server it is: its password is sent to no other. */
const PLACE = ['host', 'port', 'url']

/** As Node-RED's runtime takes them, in nodes that it starts. */
const ENVIRONMENT_VARIABLE = /^\$\{(\S+)\}$/

/**
 * The options of a config node, deployed or not, as the node would get them: passwords that the editor does not have, and environment
 * variables, filled in.
 * @param {import('./node.js').RED} RED
 * @param {string} type
 * @param {any} schema
 * @param {FormNode} form
 */
export function optionsOfForm (RED, type, { properties }, { id, options = {} }) {
  const node = typeof id === 'string' ? RED.nodes.getNode(id) : null
  const resolve = (/** @type {unknown} */ value) => {
    const variable = typeof value === 'string' ? ENVIRONMENT_VARIABLE.exec(value)?.[1] : undefined
    return (variable && RED.util.getSetting(node, variable)) ?? value
  }
  const place = (/** @type {Record<string, unknown>} */ from) =>
    JSON.stringify(PLACE.map(name => String(resolve(from[name]) || properties[name]?.default)))
  const deployed = deployedNode(RED, type, id)
  const isSamePlace = place(deployed ?? {}) === place(options)
  return Object.fromEntries(Object.entries(options).map(([name, value]) => {
    if (value !== KEPT_PASSWORD) return [name, resolve(value)]
    const kept = deployed && RED.nodes.getCredentials(id)?.[name]
    if (isSamePlace || !kept) return [name, resolve(kept)]
    throw new SluiceError('SLUICE_SERVER_PASSWORD', 'The stored password is for another server, and is sent nowhere else.', {
      fix: 'Enter the password of this one in the form.'
    })
  }))
}

/**
 * Of this type only, so that a password is never sent to a server of another type.
 * @param {import('./node.js').RED} RED
 * @param {string} type
 * @param {unknown} id
 * @returns {Record<string, unknown>|undefined}
 */
function deployedNode (RED, type, id) {
  /** @type {Record<string, unknown>|undefined} */
  let found
  RED.nodes.eachNode((/** @type {{id: string, type: string}} */ config) => {
    if (config.id === id && config.type === type) found = config
  })
  return found
}
