import { counterpartOf, defaultsOf, optionsFor } from './counterparts.js'
import { isEmpty } from './options.js'
import { say } from './sentences.js'

/**
 * The config nodes that a node refers to: brokers, servers, devices.
 *
 * @typedef {import('./options.js').Schema} Schema
 * @typedef {Record<string, any>} EditorNode
 */

/** What Node-RED's select has as value when no config node is chosen. */
const NO_CONFIG_NODE = '_ADD_'

/** What stands for a secret that Node-RED keeps to itself. */
const KEPT = '__PWRD__'

/** An empty text where no config node is chosen. @param {string} value */
export function chosenNode (value) {
  return value === NO_CONFIG_NODE ? '' : value
}

/**
 * What is wrong with a reference, in a sentence.
 * @param {string} title  of the option
 * @param {string} given
 * @param {boolean} required
 */
export function referenceProblem (title, given, required) {
  if (isEmpty(chosenNode(given))) return required ? say('nodeMissing', { title }) : undefined
  const chosen = RED.nodes.node(given)
  if (!chosen) return say('nodeGone', { title })
  if (chosen.valid === false) return say('nodeWrong', { title })
}

/** A config node as it stands in the editor, deployed or not, and which secrets Node-RED keeps to itself. @param {string} id */
export function configOf (id) {
  const config = RED.nodes.node(id)
  if (!config) return null
  const { defaults: plain, credentials: secret = {} } = RED.nodes.getType(config.type)
  const given = config.credentials ?? {}
  const kept = Object.keys(secret).map(name => [name, given[name] ?? (given[`has_${name}`] === false ? '' : KEPT)])
  const options = { ...Object.fromEntries(Object.keys(plain).map(name => [name, config[name]])), ...Object.fromEntries(kept) }
  return { id, type: config.type, options }
}

/** The config nodes of a type that nodes of the flow in view may refer to. @param {string} type @returns {EditorNode[]} */
export function configNodesOf (type) {
  /** @type {EditorNode[]} */
  const found = []
  RED.nodes.eachConfig(node => {
    if (node.type === type && !node.d && (!node.z || node.z === RED.workspaces.active())) found.push(node)
  })
  return found
}

/** The one that a node can only mean. @param {string} type @returns {string|undefined} its id */
export function onlyOne (type) {
  const found = configNodesOf(type)
  return found.length === 1 ? found[0].id : undefined
}

/** Whether one can be made without asking. @param {string} type */
export const canMake = type => optionsFor(type) !== undefined

/** Makes one that meets what is in the flow, or has the usual settings. @param {string} type @returns {EditorNode} */
export function make (type) {
  const definition = RED.nodes.getType(type)
  const id = RED.nodes.id()
  const own = { id, type, _def: definition, users: [], changed: true, label: definition.label }
  const node = RED.nodes.add({ ...defaultsOf(type), ...optionsFor(type), ...own })
  RED.editor.validateNode(node)
  RED.history.push({ t: 'add', nodes: [id], dirty: RED.nodes.dirty() })
  RED.nodes.dirty(true)
  return node
}

/**
 * What the form of a new config node begins with: the first one of its type meets what is in the flow.
 * @param {EditorNode} node
 * @returns {Record<string, any>}
 */
export function beginningOf ({ id, type }) {
  return RED.nodes.node(id) || configNodesOf(type).length > 0 ? {} : optionsFor(type) ?? {}
}

/**
 * Fills in what a node that has just been dropped can only mean: the one config node there is, or a new one for what is in the flow.
 * @param {EditorNode} node
 * @param {Schema} schema
 * @param {(name: string) => boolean} isNeeded  whether the option matters
 */
export function connectDropped (node, { properties, required = [] }, isNeeded) {
  for (const name of required) {
    const type = properties[name]['x-node']
    if (!type || !isEmpty(node[name]) || !isNeeded(name)) continue
    const isFirst = configNodesOf(type).length === 0
    node[name] = onlyOne(type) ?? (isFirst && counterpartOf(type) ? make(type).id : '')
    const chosen = RED.nodes.node(node[name])
    const given = chosen && counterpartOf(type, chosen)?.given?.[node.type]
    for (const [option, value] of Object.entries(given ?? {})) {
      if (!(node[option]?.length > 0)) node[option] = value
    }
  }
}

/**
 * Under a reference that is missing: a button that makes what is to be chosen, where there is none yet.
 * @param {JQuery} row  of the form
 * @param {string} type  of the config node
 * @param {(key: string, values?: object) => string} text  of the form's catalogue
 */
export function offerToMake (row, type, text) {
  const select = row.find('select')
  const isMissing = select.length > 0 && !chosenNode(select.val()) && configNodesOf(type).length === 0
  const button = row.find('.sluice-make')
  if (!isMissing) return button.remove()
  if (button.length > 0) return
  $('<button type="button" class="red-ui-button red-ui-button-small sluice-make">')
    .text(canMake(type) ? text('makeOne', { place: placeOf(type) }) : text('newOne', { label: RED.nodes.getType(type)._(`${type}.label`) }))
    .on('click', () => {
      if (!canMake(type)) return row.find('[id$=-add]').trigger('click')
      const node = make(type)
      choose(select, node.id, RED.utils.getNodeLabel(node, node.id))
    })
    .insertAfter(row.find('.sluice-problem'))
}

/** @param {JQuery} select @param {string} id @param {string} [label]  of one that it does not have yet */
export function choose (select, id, label) {
  if (label !== undefined) $('<option>').attr('value', id).text(label).appendTo(select)
  select.val(id).trigger('change')
}

/** Where a new one would be. @param {string} type */
function placeOf (type) {
  const { url, host, port } = { ...defaultsOf(type), ...optionsFor(type) }
  return url ?? `${host}:${port}`
}
