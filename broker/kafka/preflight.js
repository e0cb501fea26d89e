import { describe, SluiceError } from '../../gateway/base/errors.js'
import { connect } from '../../gateway/databases/kafka/connection.js'
import { onceCreated, STAGE_TOPICS } from './topics.js'

/**
 * @typedef {import('../preflight/preflight.js').Report} Report
 * @typedef {import('../preflight/preflight.js').Finding} Finding
 * @typedef {import('./topics.js').StageTopic} StageTopic
 *
 * @typedef {object} Looked  at a topic
 * @property {string} name
 * @property {string} wanted  its cleanup.policy
 * @property {number} brokers  in the cluster
 * @property {number} replicas  the fewest that a partition has
 * @property {Map<string, string>} configs
 */

const CONFIGS = ['cleanup.policy', 'retention.ms', 'min.insync.replicas', 'unclean.leader.election.enable', 'max.message.bytes']
const DAY_MS = 86_400_000
/** A spool cuts its records at less, and what it says of itself at more. */
const GOOD_MESSAGE_BYTES = 2 ** 19

/**
 * What about a Kafka cluster breaks the promise, or makes recovery slow: the settings of the topics of staging, which are created where
 * they are missing.
 * @param {Record<string, unknown>} options  see gateway/databases/kafka/connection.schema.js
 * @returns {Promise<Report>}
 */
export async function preflight (options) {
  const server = connect(options)
  const client = server.client()
  try {
    const { id, brokers } = await server.use(() => client.cluster())
    /** @type {Finding[]} */
    const findings = []
    const topics = /** @type {StageTopic[]} */ (Object.values(STAGE_TOPICS))
    for (const { name, partitions, configs } of topics) {
      try {
        const topic = await server.use(() => onceCreated(() => client.ensureTopic(name, { partitions, configs })))
        const found = await server.use(() => onceCreated(() => client.configsOf(name, CONFIGS)))
        const replicas = Math.min(...topic.partitions.map(({ replicas: its }) => its))
        findings.push(...judge({ name, wanted: configs['cleanup.policy'] ?? 'delete', brokers: brokers.size, replicas, configs: found }))
      } catch (error) {
        findings.push({ level: 'error', code: 'topic', text: `The topic ${name} cannot be looked at: ${describe(error)}`, fix: RIGHTS })
      }
    }
    return {
      ok: !findings.some(({ level }) => level === 'error'),
      broker: {
        name: `Kafka cluster ${id}`,
        version: brokers.size === 1 ? 'of one broker' : `of ${brokers.size} brokers`,
        protocol: 'Kafka'
      },
      findings: merged(findings)
    }
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return { ok: false, broker: null, findings: [{ level: 'error', code: 'connect', text: error.message, fix: '' }] }
  } finally {
    await client.close()
  }
}

const RIGHTS = 'Allow this user Create, Describe, DescribeConfigs, Read and Write on topics with the prefix sluice_stage_, and Read on ' +
  'groups with the prefix sluice.'

/** @param {Looked} looked @returns {Finding[]} */
function judge ({ name, wanted, brokers, replicas, configs }) {
  /** @type {Finding[]} */
  const findings = []
  /** @param {Finding['level']} level @param {string} code @param {string} text @param {string} fix */
  const add = (level, code, text, fix) => { findings.push({ level, code, text, fix }) }
  const config = (/** @type {string} */ key, /** @type {string} */ usual) => configs.get(key) || usual
  const policy = config('cleanup.policy', wanted)
  if (policy !== wanted) {
    const why = wanted === 'compact' ? 'what the spools hold and who reads is forgotten' : 'only the newest batch of each source is kept'
    add('error', 'cleanup-policy', `The topic ${name} has the cleanup policy "${policy}": ${why}.`, `Set its cleanup.policy to ${wanted}.`)
  }
  if (config('unclean.leader.election.enable', 'false') === 'true') {
    const text = `A broker that lacks the newest of ${name} may take it over: what that loses comes again from the spools.`
    add('warning', 'unclean-election', text, 'Set its unclean.leader.election.enable to false.')
  }
  if (brokers === 1) {
    const text = 'A single broker acknowledges what is not on its disk yet: what a loss of power takes comes again from the spools.'
    add('info', 'one-broker', text, '')
  } else if (replicas < Math.min(3, brokers)) {
    const text = `The topic ${name} has ${replicas === 1 ? 'no second copy' : '2 copies'}: while a broker is away, it may be, too.`
    add('warning', 'replicas', text, 'Give it three replicas (default.replication.factor, before it is created).')
  } else if (Number(config('min.insync.replicas', '1')) < 2) {
    const text = `What is sent to ${name} is acknowledged once a single broker has it: what that loses comes again from the spools.`
    add('warning', 'in-sync', text, 'Set its min.insync.replicas to 2.')
  }
  const retentionMs = Number(config('retention.ms', '-1'))
  if (name === STAGE_TOPICS.data.name && retentionMs >= 0 && retentionMs < DAY_MS) {
    const minutes = Math.round(retentionMs / 60_000)
    add('warning', 'retention', `Batches are kept for ${minutes} min: those of a longer outage come again from the spools.`,
      'Raise its retention.ms: to as long as a database may be away.')
  }
  const bytes = Number(config('max.message.bytes', String(2 ** 20)))
  if (bytes < GOOD_MESSAGE_BYTES) {
    add('warning', 'small-messages', `The topic ${name} takes no records of more than ${bytes} bytes: batches are cut to that.`,
      'Raise its max.message.bytes to 1 MiB.')
  }
  return findings
}

/** What is said of several topics alike once. @param {Finding[]} findings */
function merged (findings) {
  return findings.filter(({ text }, i) => findings.findIndex(other => other.text === text) === i)
}
