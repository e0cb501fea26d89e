/**
 * Where messages of a flow go, read from its configuration.
 *
 * @typedef {any} Config  of a node, as flows have it
 */

/**
 * The nodes that run, or would if they were not disabled, and where their messages go: those in a subflow once for each of its instances,
 * under the ids that Node-RED gives them there.
 * @param {Config[]} configs
 * @returns {Map<string, {config: Config, next: string[]}>}
 */
export function nodesOf (configs) {
  const templates = new Map(configs.filter(({ type }) => type === 'subflow').map(config => [config.id, config]))
  /** @type {Map<string, Config[]>} tab or subflow → what is in it */
  const contents = Map.groupBy(configs, ({ z }) => templates.has(z) ? z : '')
  /** @type {Map<string, {config: Config, next: string[]}>} */
  const nodes = new Map()

  /**
   * @param {string} place  id of a subflow; empty: outside of all
   * @param {string} prefix  of the ids
   * @param {Map<string, string[]>} leaving  id of a node in it → what follows the instance of the subflow
   * @param {string[]} within  the subflows around it
   */
  const add = (place, prefix, leaving, within) => {
    for (const config of contents.get(place) ?? []) {
      const id = prefix + config.id
      const { type, wires = [], links = [] } = config
      const wired = [wires, isLink(type) ? links : []].flat(2).map(next => prefix + next)
      const next = [...wired, ...leaving.get(config.id) ?? []]
      const template = templates.get(type?.replace(/^subflow:/, ''))
      if (!template || within.includes(template.id)) {
        nodes.set(id, { config, next })
        continue
      }
      nodes.set(id, { config, next: (template.in ?? []).flatMap(portsOf).map((/** @type {any} */ port) => `${id}-${port.id}`) })
      /** @type {Map<string, string[]>} */
      const leavingInner = new Map()
      for (const { id: from } of (template.out ?? []).flatMap(portsOf)) {
        if (from === template.id) nodes.get(id)?.next.push(...next)
        else leavingInner.set(from, next)
      }
      add(template.id, `${id}-`, leavingInner, [...within, template.id])
    }
  }
  add('', '', new Map(), [])
  return nodes
}

/** @param {string} type */
function isLink (type) { return type === 'link out' || type === 'link call' }

/** @param {{wires?: {id: string}[]}} port  of a subflow */
function portsOf ({ wires = [] }) { return wires }

/** What messages of a node can reach, itself too. @param {Map<string, {next: string[]}>} nodes @param {string} startId */
export function reachedFrom (nodes, startId) {
  const reached = new Set([startId])
  for (const id of reached) for (const next of nodes.get(id)?.next ?? []) reached.add(next)
  return reached
}
