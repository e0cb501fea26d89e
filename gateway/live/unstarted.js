/**
 * @typedef {{id: string, type: string, name?: string, z?: string, d?: boolean, disabled?: boolean}} FlowNode  as Node-RED keeps it
 * @typedef {{config?: {flows: FlowNode[]}}} Started  the event
 * @typedef {{getNode: (id: string) => {_alias?: string}|null}} Nodes  of Node-RED; a node that a subflow has made has the id of the one it
 *   was made of
 * @typedef {{node: FlowNode, option: string, target: FlowNode}} Need  by which an option refers to a config node
 */

/** What stands in a flow and is no node. */
const NO_NODES = ['tab', 'group', 'subflow']

/** Where Node-RED looks for no reference. */
const NO_REFERENCES = ['id', 'wires', '_users', 'type', 'z']

/**
 * The nodes of a flow that has started which were not made with it. Node-RED says of each flow that it has started, also where one whose
 * config nodes need each other has not: it only writes an error to the log. What is in a subflow is made anew wherever that is used, under
 * other names, and not looked for.
 * @param {Started|undefined} event
 * @param {Nodes} nodes
 */
export function unstartedIn (event, nodes) {
  const flow = event?.config?.flows ?? []
  const tabs = new Set(flow.filter(({ type, disabled }) => type === 'tab' && !disabled).map(({ id }) => id))
  return flow.filter(({ id, type, z, d }) =>
    !d && (!z || tabs.has(z)) && !NO_NODES.includes(type) && !type.startsWith('subflow:') && !nodes.getNode(id))
}

/**
 * Why Node-RED has not made each of them, as far as the flow shows it: it makes no config node before those that its options name, takes
 * any text for such a name that is the id of one, and gives up on the whole tab where they need each other.
 * @param {FlowNode[]} unstarted
 * @returns {(node: FlowNode) => string|null}
 */
export function circlesIn (unstarted) {
  const configs = new Map(unstarted.filter(node => !('x' in node)).map(node => [node.id, node]))
  const needs = new Map(Array.from(configs.values(), node => [node.id, needsOf(node, configs)]))
  const inCircles = [...configs.values()].flatMap(node => needs.get(node.id)?.find(({ target }) => leadsTo(target, node, needs)) ?? [])
  return node => {
    const own = inCircles.find(need => need.node === node)
    if (own) return reasonOf(own)
    const other = inCircles.find(need => need.node.z === node.z) ?? inCircles.find(need => !need.node.z)
    return other ? `It gave up at ${nameOf(other.node)}. ${reasonOf(other)}` : null
  }
}

/** @param {FlowNode} node @param {Map<string, FlowNode>} configs @returns {Need[]} */
function needsOf (node, configs) {
  return Object.entries(node).flatMap(([option, value]) => {
    const target = NO_REFERENCES.includes(option) || typeof value !== 'string' ? undefined : configs.get(value)
    return target && target.z === node.z ? [{ node, option, target }] : []
  })
}

/** @param {FlowNode} from @param {FlowNode} to @param {Map<string, Need[]>} needs */
function leadsTo (from, to, needs) {
  const reached = new Set([from])
  for (const each of reached) for (const { target } of needs.get(each.id) ?? []) reached.add(target)
  return reached.has(to)
}

/** @param {Need} need */
function reasonOf ({ node, option, target }) {
  const whose = target === node ? 'its own id' : `the id of ${nameOf(target)}, which needs this one`
  return `"Circular config node dependency detected: ${node.id}": the ${option} of ${nameOf(node)} is ${whose}.`
}

/** What it is called where it is reported. @param {FlowNode} node */
export function nameOf ({ type, name, id }) {
  return `${type} ${name || id}`
}
