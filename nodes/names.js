import { NodeNames } from '../gateway/flow/node-names.js'
import { dataDir } from './node.js'
import { configsOf, nodesOf, SINK_TYPES } from './sinks/wired.js'

/** @type {Map<string, NodeNames>} by the folder of the gateway's data */
const shared = new Map()
/** Those of this turn, in which Node-RED makes very many nodes of the same flows. @type {Map<string, Map<string, string>>} likewise */
const current = new Map()

/**
 * What people read of the nodes of Sluice in the flows as they are now: of sinks, a name is of one alone.
 * @param {import('./node.js').RED} RED
 * @returns {Map<string, string>} by id
 */
export function namesOf (RED) {
  const folder = dataDir(RED)
  const known = current.get(folder)
  if (known) return known
  const nodeNames = shared.get(folder) ?? new NodeNames(folder)
  shared.set(folder, nodeNames)
  const nodes = [...nodesOf(configsOf(RED))].map(([id, { config: { type, name } }]) => ({ id, type, name }))
  const kinds = Map.groupBy(nodes.filter(({ type }) => type?.startsWith('sluice-')), ({ type }) => SINK_TYPES.has(type) ? '' : type)
  const names = new Map([...kinds.values()].flatMap(its => [...nodeNames.of(its)]))
  nodeNames.keep(names)
  current.set(folder, names)
  setImmediate(() => current.delete(folder))
  return names
}

/**
 * Of a node among the sources that it stages: "hall (stage in)", or "stage in 2" where it has no name.
 * @param {string} name
 * @param {'stage in'|'stage out'} kind
 */
export function stageNameOf (name, kind) { return name.startsWith(kind) ? name : `${name} (${kind})` }

/** @param {import('./node.js').RED} RED @param {import('./node.js').Node} node */
export function nameOf (RED, node) {
  return node.name?.trim() || (namesOf(RED).get(node.id) ?? node.id)
}
