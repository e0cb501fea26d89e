/**
 * @typedef {{id: string, type: string, name?: string, z?: string, d?: boolean, disabled?: boolean}} FlowNode  as Node-RED keeps it
 * @typedef {{config?: {flows: FlowNode[]}}} Started  the event
 * @typedef {{getNode: (id: string) => {_alias?: string}|null}} Nodes  of Node-RED; a node that a subflow has made has the id of the one it
 *   was made of
 * @typedef {{node: FlowNode, option: string, target: FlowNode}} Need  by which an option refers to a config node
 */

/** What stands in a flow and is no node. */
const NO_NODES = ['tab', 'group', 'subflow']

const SUBFLOW = 'subflow:'

/** Where Node-RED looks for no reference. */
const NO_REFERENCES = ['id', 'wires', '_users', 'type', 'z']

/**
 * The nodes of a flow that has started which were not made with it. Node-RED says of each flow that it has started, also where one whose
 * config nodes need each other has not: it only writes an error to the log. What is in a subflow is made anew wherever that is used, under
 * other names: where it was not, the use is told.
 * @param {Started|undefined} event
 * @param {Nodes} nodes
 */
export function unstartedIn (event, nodes) {
  const flow = event?.config?.flows ?? []
  const tabs = new Set(flow.filter(({ type, disabled }) => type === 'tab' && !disabled).map(({ id }) => id))
  const contents = Map.groupBy(flow.filter(node => 'x' in node && !node.d && isNode(node)), ({ z }) => z)
  const isMade = (/** @type {FlowNode} */ { id, type }) => {
    if (!type.startsWith(SUBFLOW)) return nodes.getNode(id)
    const inside = contents.get(type.slice(SUBFLOW.length)) ?? []
    return inside.length === 0 || inside.some(inner => nodes.getNode(`${id}-${inner.id}`))
  }
  return flow.filter(node => !node.d && (!node.z || tabs.has(node.z)) && !NO_NODES.includes(node.type) && !isMade(node))
}

/** @param {FlowNode} node */
const isNode = ({ type }) => !NO_NODES.includes(type) && !type.startsWith(SUBFLOW)

/**
 * Why Node-RED has not made each of them, as far as the flow shows it: it makes no config node before those that its options name, takes
 * any text for such a name that is the id of one, and gives up on the whole tab or subflow where they need each other.
 * @param {Started|undefined} event
 * @param {FlowNode[]} unstarted
 * @returns {(node: FlowNode) => string|null}
 */
export function circlesIn (event, unstarted) {
  const places = new Set(unstarted.map(insideOf))
  const inside = event?.config?.flows.filter(({ z, d }) => !d && z && places.has(z)) ?? []
  const configs = new Map([...unstarted, ...inside].filter(node => !('x' in node)).map(node => [node.id, node]))
  const needs = new Map(Array.from(configs.values(), node => [node.id, needsOf(node, configs)]))
  const inCircles = [...configs.values()].flatMap(node => needs.get(node.id)?.find(({ target }) => leadsTo(target, node, needs)) ?? [])
  return node => {
    const own = inCircles.find(need => need.node === node)
    if (own) return reasonOf(own)
    const other = inCircles.find(need => need.node.z === insideOf(node)) ?? inCircles.find(need => !need.node.z)
    return other ? `It gave up at ${nameOf(other.node)}. ${reasonOf(other)}` : null
  }
}

/** Where what it needs is: of a use of a subflow, that. @param {FlowNode} node */
const insideOf = ({ type, z }) => type.startsWith(SUBFLOW) ? type.slice(SUBFLOW.length) : z

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
  return `${type.startsWith(SUBFLOW) ? 'subflow' : type} ${name || id}`
}
