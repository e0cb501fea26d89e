import { setTimeout as sleep } from 'node:timers/promises'
import { compatibilityPartitioner } from '@platformatic/kafka'
import { isAnswer } from '../../gateway/kafka/client.js'
import { parseTopic, ROOT } from '../topics.js'

/**
 * Where the messages of the staging protocol are in a Kafka cluster: five topics, in which the key of each record is the topic that the
 * message has in MQTT (broker/topics.js). Anybody may create them before, with other numbers of partitions and other settings.
 *
 * @typedef {object} StageTopic
 * @property {string} name
 * @property {number} partitions  where it is created
 * @property {Record<string, string>} configs  likewise
 * @property {boolean} [isRetained]  as MQTT calls it: the newest of each key is all that counts
 * @property {boolean} [isPaced]  it holds no batches, and much that is for others
 */

const HOUR_MS = String(3_600_000)
const RETAINED = {
  isRetained: true,
  configs: {
    'cleanup.policy': 'compact', 'segment.bytes': String(2 ** 24), 'segment.ms': HOUR_MS, 'min.cleanable.dirty.ratio': '0.1'
  }
}
/** Of what is about one gateway: it reads a partition only, with what is about others there. */
const GATEWAY_PARTITIONS = 24

export const STAGE_TOPICS = topics({
  /** Batches. The members of a group share its partitions; those of one source are in one of them. */
  data: { name: 'sluice_stage_data', partitions: 12, configs: {} },
  heads: { name: 'sluice_stage_heads', partitions: GATEWAY_PARTITIONS, isPaced: true, ...RETAINED },
  /** It is read whole by everybody, so it is to be small. */
  sinks: { name: 'sluice_stage_sinks', partitions: 1, isPaced: true, ...RETAINED },
  /** What spools and readers tell each other, and is out of date soon. */
  control: { name: 'sluice_stage_control', partitions: GATEWAY_PARTITIONS, isPaced: true, configs: { 'retention.ms': HOUR_MS } },
  /** Batches, again, each for one reader. */
  resent: { name: 'sluice_stage_resent', partitions: 1, configs: { 'retention.ms': HOUR_MS } }
})

/** @template {string} Name @param {Record<Name, StageTopic>} all */
function topics (all) { return all }

/** @typedef {keyof typeof STAGE_TOPICS} StageTopicName */

/** @type {Readonly<Record<string, StageTopicName>>} by the kind of message */
const TOPIC_OF = { data: 'data', head: 'heads', sinks: 'sinks', echo: 'control', commit: 'control', resend: 'control', resent: 'resent' }

/** @param {string} topic  of MQTT @returns {StageTopicName} */
export function stageTopicOf (topic) {
  return TOPIC_OF[kindOf(topic)] ?? 'control'
}

/** Those that a filter's messages may be in. @param {string} filter @returns {StageTopicName[]} */
export function stageTopicsFor (filter) {
  const kind = kindOf(filter)
  return kind in TOPIC_OF ? [TOPIC_OF[kind]] : /** @type {StageTopicName[]} */ (Object.keys(STAGE_TOPICS))
}

/** The gateway that a filter's messages are about; null: they may be about any. @param {string} filter */
export function gatewayOf (filter) {
  const about = parseTopic(filter)
  return about && 'gateway' in about && about.gateway !== '+' ? about.gateway : null
}

/**
 * Batches are shared by their sources; of all else those about a gateway are in one partition.
 * @param {StageTopicName} name @param {string} topic  of MQTT @param {number} partitions
 */
export function stagePartitionOf (name, topic, partitions) {
  return partitionOf(name === 'data' ? topic : gatewayOf(topic) ?? topic, partitions)
}

/** @param {string} topic  or a filter */
function kindOf (topic) {
  return topic.startsWith(`${ROOT}/`) ? topic.slice(ROOT.length + 1).split('/', 2)[1] ?? '' : ''
}

/** For a topic that has just been created to be there. */
const CREATED_MS = 10_000

/**
 * Does something with a topic that may have just been created: brokers hear of it one after the other.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function onceCreated (work) {
  for (const end = performance.now() + CREATED_MS; ;) {
    try {
      return await work()
    } catch (error) {
      if (!isAnswer(error, 'UNKNOWN_TOPIC_OR_PARTITION') || performance.now() > end) throw error
      await sleep(100)
    }
  }
}

const MAX_KNOWN = 10_000
/** @type {Map<string, number>} */
const hashes = new Map()

/** As Kafka's own clients would have it. @param {string} key @param {number} partitions */
export function partitionOf (key, partitions) {
  let hash = hashes.get(key)
  if (hash === undefined) {
    if (hashes.size >= MAX_KNOWN) hashes.clear()
    hashes.set(key, hash = compatibilityPartitioner(/** @type {any} */ (undefined), Buffer.from(key)))
  }
  return hash % partitions
}
