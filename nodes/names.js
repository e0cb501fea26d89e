import { NodeNames, SOURCES_FILE } from '../gateway/flow/node-names.js'
import { dataDir } from './data-dir.js'
import { nodesOf } from '../gateway/flow/wiring.js'
import { configsOf, SINK_TYPES } from './sinks/wired.js'

/** @typedef {{shared: Map<string, NodeNames>, current: Map<string, Map<string, string>>}} Known  by the folder of the gateway's data */

/** What a source is called that has no name, by type. @type {Map<string, string>} */
const SOURCE_NAMES = new Map()

/** For the modules of sources, as they are loaded. @param {string} type @param {object} schema  of its options */
export function nameSources (type, schema) {
  SOURCE_NAMES.set(type, /** @type {{properties: {name: {default: string}}}} */ (schema).properties.name.default)
}

/** As Node-RED's runtime takes them. */
const ENVIRONMENT_VARIABLE = /^\$\{\S+\}$/

/** @type {Known} */
const people = { shared: new Map(), current: new Map() }
/** @type {Known} */
const sources = { shared: new Map(), current: new Map() }

/**
 * What people read of the nodes of Sluice in the flows as they are now: of sinks, a name is of one alone.
 * @param {import('./data-dir.js').RED} RED
 * @returns {Map<string, string>} by id
 */
export function namesOf (RED) {
  return given(RED, people, undefined, (nodes, nodeNames) => {
    const kinds = Map.groupBy(nodes.filter(({ type }) => type?.startsWith('sluice-')), ({ type }) => SINK_TYPES.has(type) ? '' : type)
    return new Map([...kinds.values()].flatMap(its => [...nodeNames.of(its)]))
  })
}

/**
 * What a source is called in topics and tables: without a name of its own "machine", and "machine 2" where there is another, as in the
 * second instance of a subflow. It keeps that as long as it is in the flows.
 * @param {import('./data-dir.js').RED} RED @param {import('./data-dir.js').Node} node @param {{name: string}} options
 */
export function sourceNameOf (RED, node, options) {
  if (node.name) return options.name
  const names = given(RED, sources, SOURCES_FILE, (nodes, nodeNames) => nodeNames.of(nodes.filter(({ type }) => SOURCE_NAMES.has(type))
    .map(each => ({ ...each, name: ENVIRONMENT_VARIABLE.test(each.name ?? '') ? '' : each.name, usual: SOURCE_NAMES.get(each.type) }))))
  return names.get(node.id) ?? options.name
}

/**
 * Those of this turn, in which Node-RED makes very many nodes of the same flows.
 * @param {import('./data-dir.js').RED} RED @param {Known} known @param {string|undefined} file
 * @param {(nodes: import('../gateway/flow/node-names.js').NamedNode[], nodeNames: NodeNames) => Map<string, string>} give
 */
function given (RED, { shared, current }, file, give) {
  const folder = dataDir(RED)
  const known = current.get(folder)
  if (known) return known
  const nodeNames = shared.get(folder) ?? new NodeNames(folder, file)
  shared.set(folder, nodeNames)
  const names = give([...nodesOf(configsOf(RED))].map(([id, { config: { type, name } }]) => ({ id, type, name })), nodeNames)
  nodeNames.keep(names)
  current.set(folder, names)
  setImmediate(() => current.delete(folder))
  return names
}

/**
 * Of a node among the sources that it stages: "hall (stage in)", or "stage in 2" where it has no name.
 * @param {string} name
 * @param {'stage in'|'stage out'|'kafka in'} kind
 */
export function stageNameOf (name, kind) { return name.startsWith(kind) ? name : `${name} (${kind})` }

/** @param {import('./data-dir.js').RED} RED @param {import('./data-dir.js').Node} node */
export function nameOf (RED, node) {
  return node.name?.trim() || (namesOf(RED).get(node.id) ?? node.id)
}
