import { topicsOf } from '../../broker/kafka-in/topics.js'
import { brokersIn } from '../kafka/brokers.js'
import { sinkTypes } from '../databases/index.js'
import { nodesOf, reachedFrom } from './wiring.js'

/**
 * The nodes *Kafka in* of a flow that run, share a group and a topic, and lead to different sinks: each partition is read by one of them,
 * so that none of their sinks gets all.
 *
 * @typedef {import('./wiring.js').Config} Config
 * @typedef {{id: string, config: Config, group: string}} Member
 */

const KAFKA_IN = 'sluice-kafka-in'
const DEFAULT_GROUP = 'sluice'
const SINK_TYPES = new Set(Object.keys(sinkTypes).map(type => `sluice-${type}`))

/** @param {Config[]} configs  of all nodes @returns {[Member, Member][]} */
export function groupsAtOdds (configs) {
  const byId = new Map(configs.map(config => [config.id, config]))
  const nodes = nodesOf(configs)
  const isDisabled = (/** @type {Config} */ { d, z }) => d === true || byId.get(z)?.disabled === true
  const members = [...nodes].filter(([, { config }]) => config.type === KAFKA_IN && !isDisabled(config)).map(([id, { config }]) => {
    const sinks = [...reachedFrom(nodes, id)].filter(reached => SINK_TYPES.has(nodes.get(reached)?.config.type)).sort()
    const group = config.group?.trim() || DEFAULT_GROUP
    return { id, config, group, sinks: String(sinks), place: JSON.stringify([group, clusterOf(byId.get(config.server))]) }
  })
  return members.flatMap((one, i) => members.slice(i + 1)
    .filter(other => other.place === one.place && other.sinks !== one.sinks && areShared(one.config, other.config))
    .map(other => /** @type {[Member, Member]} */ ([one, other])))
}

/** @param {Config} [server] */
function clusterOf ({ host = '', port = '' } = {}) {
  return brokersIn({ host, port }).map(broker => `${broker.host}:${broker.port}`).sort()
}

/** Whether they have a topic in common. @param {Config} one @param {Config} other */
function areShared (one, other) {
  return reads(one, namesOf(other)) || reads(other, namesOf(one))
}

/** @param {Config} config @param {string[]} names */
function reads (config, names) {
  const topics = topicsOf(namesOf(config))
  return names.some(name => topics instanceof RegExp ? topics.test(name) : topics.includes(name))
}

/** The option, as a list or as lines of text. @param {Config} config @returns {string[]} */
function namesOf ({ topics }) {
  const lines = Array.isArray(topics) ? topics : String(topics ?? '').split('\n')
  return lines.map(name => String(name).trim()).filter(name => name !== '')
}
