import { FetchIsolationLevels, fetchV12, ProduceAcks, produceV9 } from '@platformatic/kafka'
import { isAnswer } from '../../gateway/kafka/client.js'
import { Membership } from '../../gateway/kafka/membership.js'
import { STAGE_TOPICS } from './topics.js'

/**
 * What is there of the topics of staging, and what this user may do: nothing is created, and nothing written.
 *
 * @typedef {import('../../gateway/kafka/client.js').KafkaClient} KafkaClient
 * @typedef {import('./topics.js').StageTopic} StageTopic
 *
 * @typedef {object} Looked  at a topic
 * @property {StageTopic} topic
 * @property {boolean} isThere  otherwise what there would be, were it created now
 * @property {string[]} lacking  rights that a gateway needs, as Kafka names them
 * @property {number} replicas  the fewest that a partition has
 * @property {Map<string, string>|null} configs  null: not shown to this user
 * @property {unknown} problem  why it could not be looked at, or created; null otherwise
 */

const CONFIGS = ['cleanup.policy', 'retention.ms', 'min.insync.replicas', 'unclean.leader.election.enable', 'max.message.bytes']
const NAMES = new Map([['READ', 'Read'], ['WRITE', 'Write'], ['DESCRIBE', 'Describe'], ['DESCRIBE_CONFIGS', 'DescribeConfigs']])
const DENIED = 'TOPIC_AUTHORIZATION_FAILED'
const ANYBODY = -1
const WAIT_MS = 5000

/** @param {KafkaClient} client @returns {Promise<Looked[]>} */
export async function lookAtTopics (client) {
  const topics = /** @type {StageTopic[]} */ (Object.values(STAGE_TOPICS))
  const rights = await client.rightsTo(topics.map(({ name }) => name))
  return Promise.all(topics.map(async topic => {
    const its = rights.get(topic.name)
    const looked = { topic, isThere: Boolean(its), lacking: /** @type {string[]} */ ([]), replicas: 0, configs: null, problem: null }
    try {
      return { ...looked, ...its ? await existing(client, topic, its) : await missing(client, topic) }
    } catch (error) {
      return { ...looked, problem: error }
    }
  }))
}

/** Whether this user may be a member of the group of a gateway's reader. @param {KafkaClient} client @param {string} gateway */
export async function mayJoin (client, gateway) {
  try {
    await new Membership(client, `sluice-${gateway}-in-preflight`, 0).heartbeat()
  } catch (error) {
    return !isAnswer(error, 'GROUP_AUTHORIZATION_FAILED')
  }
  return true
}

/** @param {KafkaClient} client @param {StageTopic} topic @param {Set<string>} rights */
async function existing (client, { name }, rights) {
  const lacking = [...NAMES].filter(([right]) => !rights.has(right)).map(([, right]) => right)
  const [found, configs] = await Promise.all([
    client.topic(name, { isFresh: true }),
    rights.has('DESCRIBE_CONFIGS') ? client.configsOf(name, CONFIGS) : null
  ])
  return { lacking, configs, replicas: Math.min(...(found?.partitions ?? []).map(({ replicas }) => replicas)) }
}

/** @param {KafkaClient} client @param {StageTopic} topic */
async function missing (client, topic) {
  const { name } = topic
  const partition = { partition: 0, currentLeaderEpoch: -1, fetchOffset: 0n, lastFetchedEpoch: -1, partitionMaxBytes: 1 }
  const read = { topicId: name, partitions: [partition] } // by its name, in this version
  const record = { topic: name, partition: 0, key: Buffer.from(name), value: null }
  const [created, mayRead, mayWrite] = await Promise.all([
    client.createTopic(name, topic, { isTrial: true }).catch(error => isAnswer(error, DENIED) ? null : Promise.reject(error)),
    isAllowed(client.ask(fetchV12.api, ANYBODY, 0, 0, 1, FetchIsolationLevels.READ_COMMITTED, 0, -1, [read], [], '')),
    isAllowed(client.ask(produceV9.api, ANYBODY, ProduceAcks.ALL, WAIT_MS, [record], {}))
  ])
  const lacking = [!created && 'Create', !mayRead && 'Read', !mayWrite && 'Write'].filter(right => right !== false)
  return { lacking, replicas: created?.replicas ?? 0, configs: created?.configs ?? null }
}

/** Of a request about a topic that is not there: rights are looked at first. @param {Promise<unknown>} request */
async function isAllowed (request) {
  return request.then(() => true, error => !isAnswer(error, DENIED))
}
