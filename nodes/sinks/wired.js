/**
 * @param {{id: string, name?: string}} config  of a sink node
 * @returns {string} how spools, dead letters and stage in know it
 */
export function sinkNameOf ({ id, name }) {
  return name?.trim() || id
}

/**
 * What messages of a node can reach, over wires and link nodes; itself, too.
 * @param {import('../node.js').RED} RED
 * @param {string} startId
 * @returns {any[]} configurations of nodes
 */
export function nodesBehind (RED, startId) {
  /** @type {Map<string, any>} */
  const configs = new Map()
  RED.nodes.eachNode((/** @type {any} */ config) => configs.set(config.id, config))
  const reached = new Set([startId])
  for (const id of reached) {
    const { wires = [], links = [], type, d: isDisabled } = configs.get(id) ?? {}
    if (isDisabled) continue
    for (const next of wires.flat()) reached.add(next)
    if (type === 'link out') for (const next of links) reached.add(next)
  }
  return [...reached].map(id => configs.get(id)).filter(config => config && !config.d)
}

/**
 * The names of the sinks that messages of a node can reach.
 * @param {import('../node.js').RED} RED
 * @param {string} startId
 * @returns {string[]}
 */
export function sinksBehind (RED, startId) {
  return nodesBehind(RED, startId).filter(({ type }) => SINK_TYPES.has(type)).map(sinkNameOf).sort()
}

/**
 * The sinks in this Node-RED that a source's batches are meant for, over all stage ins that read them from a broker: a spool waits for them
 * even before they have come up.
 * @param {import('../node.js').RED} RED
 * @param {string} brokerId
 * @param {string} gateway
 * @param {string} source
 * @returns {string[]}
 */
export function sinksOf (RED, brokerId, gateway, source) {
  /** @type {any[]} */
  const configs = []
  RED.nodes.eachNode((/** @type {any} */ config) => configs.push(config))
  const disabledTabs = new Set(configs.filter(({ type, disabled }) => type === 'tab' && disabled).map(({ id }) => id))
  const stageIns = configs.filter(({ type, d: isDisabled, z: tab }) => type === 'sluice-stage-in' && !isDisabled && !disabledTabs.has(tab))
  const readers = stageIns.filter(config => config.broker === brokerId &&
    ['+', '', undefined, gateway].includes(config.gateway) && ['+', '', undefined, source].includes(config.source))
  return [...new Set(readers.flatMap(({ id, sinks }) => sinks?.length > 0 ? sinks : sinksBehind(RED, id)))]
}

/** Filled by the sinks' modules as they are loaded. @type {Set<string>} */
export const SINK_TYPES = new Set()
