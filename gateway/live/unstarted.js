/**
 * @typedef {{id: string, type: string, name?: string, z?: string, d?: boolean, disabled?: boolean}} FlowNode  as Node-RED keeps it
 * @typedef {{config?: {flows: FlowNode[]}}} Started  the event
 * @typedef {{getNode: (id: string) => {_alias?: string}|null}} Nodes  of Node-RED; a node that a subflow has made has the id of the one it
 *   was made of
 */

/** What stands in a flow and is no node. */
const NO_NODES = ['tab', 'group', 'subflow']

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

/** What it is called where it is reported. @param {FlowNode} node */
export function nameOf ({ type, name, id }) {
  return `${type} ${name || id}`
}
