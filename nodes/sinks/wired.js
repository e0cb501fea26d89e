import { brokerIdOf } from '../../broker/stage-options.js'
import { nodesOf, reachedFrom } from '../../gateway/flow/wiring.js'

/**
 * What the flows say about who stores what, read from their configuration: what is disabled does not run, and is required all the same.
 *
 * @typedef {import('../../gateway/flow/wiring.js').Config} Config
 * @typedef {{sink: string, label: string, node: string}} Wired  `sink`: as it is called in keys and topics; `label`: as people read it;
 *   `node`: its id
 * @typedef {object} Reader  a stage in
 * @property {string} id
 * @property {string} broker  id of its broker node
 * @property {string} consumer
 * @property {string} gateway  that it reads, `+` all
 * @property {string} source  likewise
 * @property {Wired[]} sinks  that it leads to
 */

/** Filled by the sinks' modules as they are loaded. @type {Set<string>} */
export const SINK_TYPES = new Set()

const STAGE_IN = 'sluice-stage-in'
const KAFKA = 'sluice-kafka-server'
const DEFAULT_URL = 'mqtt://127.0.0.1:1883'

/**
 * @param {{id: string, name?: string}} config  of a sink node
 * @returns {string} how dead letters, groups and the sinks option of stage in know it
 */
export function sinkNameOf ({ id, name }) {
  return name?.trim() || id
}

/** The configuration of all nodes. @param {import('../node.js').RED} RED @returns {Config[]} */
export function configsOf (RED) {
  /** @type {Config[]} */
  const configs = []
  RED.nodes.eachNode((/** @type {Config} */ config) => configs.push(config))
  return configs
}

/**
 * Every stage in, disabled or not, with the sinks that its messages can reach, disabled or not: over wires, links and subflows, and through
 * nodes that are disabled. In a consumer group a sink is known by its name, otherwise by the id of its node.
 * @param {Config[]} configs
 * @param {string} gateway  this one
 * @param {Map<string, string>} [names]  of the nodes, as people read them
 * @returns {Reader[]}
 */
export function readersOf (configs, gateway, names = new Map()) {
  const nodes = nodesOf(configs)
  const sinks = [...nodes].filter(([, { config }]) => SINK_TYPES.has(config.type))
  return [...nodes].filter(([, { config }]) => config.type === STAGE_IN).map(([id, { config }]) => {
    const group = config.group?.trim()
    const wiredSink = (/** @type {string} */ node, /** @type {{config: Config}} */ { config: { name } }) => {
      const own = sinkNameOf({ id: node, name })
      return { sink: group ? own : node, label: names.get(node) ?? own, node }
    }
    const behind = () => sinksOf(nodes, id).map(each => wiredSink(...each))
    const named = namesOf(config.sinks).flatMap(name => {
      const found = sinks.filter(([sink, { config: { name: label } }]) => [sink, label?.trim(), names.get(sink)].includes(name))
      return found.length > 0 ? found.map(each => wiredSink(...each)) : [{ sink: name, label: name, node: name }]
    })
    return {
      id,
      broker: brokerIdOf(config),
      consumer: group ? `group:${group}` : gateway,
      gateway: config.gateway?.trim() || '+',
      source: config.source?.trim() || '+',
      sinks: named.length > 0 ? named : behind()
    }
  })
}

/**
 * The sinks that messages of a node can reach, disabled or not.
 * @param {Config[]} configs
 * @param {string} id  of the node
 * @param {Map<string, string>} names  of the nodes, as people read them
 * @returns {Wired[]}
 */
export function sinksBehind (configs, id, names) {
  return sinksOf(nodesOf(configs), id).map(([node]) => ({ sink: node, label: names.get(node) ?? node, node }))
}

/**
 * What messages of a node can reach, itself too, of the nodes that run.
 * @param {import('../node.js').RED} RED
 * @param {string} startId
 * @returns {Config[]}
 */
export function nodesBehind (RED, startId) {
  const nodes = nodesOf(configsOf(RED))
  return [...reachedFrom(nodes, startId)].flatMap(id => nodes.get(id)?.config ?? []).filter(({ d: isDisabled }) => !isDisabled)
}

/**
 * Whether a stage in is still there, disabled or not, and reads for the same consumer from the same broker.
 * @param {Config[]} configs
 * @param {string} gateway  this one
 * @param {{id: string, consumer: string, broker?: string}} reader  without a broker: from any, as one may have several addresses
 */
export function hasReader (configs, gateway, { id, consumer, broker }) {
  return readersOf(configs, gateway).some(reader => {
    const isThere = broker === undefined || urlOf(configs, reader.broker) === urlOf(configs, broker)
    return reader.id === id && reader.consumer === consumer && isThere
  })
}

/**
 * The sinks that what is staged in a broker is meant for, over all stage ins that read from it.
 * @param {Config[]} configs
 * @param {string} gateway  this one
 * @param {string} broker  id of its node
 * @param {Map<string, string>} [names]  of the nodes, as people read them
 * @param {(route: string) => boolean} [isKnown]  whether a stage in and a broker have been found to be on one broker, by these addresses
 * @returns {import('../../broker/out/required-sinks.js').WiredSink[]}
 */
export function wiredSinks (configs, gateway, broker, names, isKnown = () => false) {
  const url = urlOf(configs, broker)
  return readersOf(configs, gateway, names).flatMap(({ id, broker: its, consumer, gateway: from, source, sinks }) => {
    const route = `${id} ${urlOf(configs, its)} ${url}`
    const isThere = its === broker || urlOf(configs, its) === url || isKnown(route)
    return isThere ? sinks.map(wired => ({ consumer, ...wired, gateway: from, source, route })) : []
  })
}

/** @param {Config[]} configs @param {string} broker  id of its node */
function urlOf (configs, broker) {
  const { type, url, host, port } = configs.find(config => config.id === broker) ?? {}
  return type === KAFKA ? `kafka://${host}:${port}` : url || DEFAULT_URL
}

/** The option of stage in, as a list or as lines of text. @param {unknown} sinks @returns {string[]} */
function namesOf (sinks) {
  const lines = Array.isArray(sinks) ? sinks : String(sinks ?? '').split('\n')
  return lines.map(name => String(name).trim()).filter(name => name !== '')
}

/** @param {Map<string, {config: Config, next: string[]}>} nodes @param {string} startId */
function sinksOf (nodes, startId) {
  const reached = reachedFrom(nodes, startId)
  return [...nodes].filter(([id, { config: { type } }]) => SINK_TYPES.has(type) && reached.has(id))
}
