import { randomBytes } from 'node:crypto'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { connect } from '../../gateway/databases/kafka/connection.js'
import { brokersIn } from '../../gateway/kafka/brokers.js'
import { reasonOf } from '../../gateway/kafka/client.js'
import { isLocal } from '../../gateway/databases/connecting/tls.js'
import { said } from '../../gateway/stats/phrases.js'
import { finding, isError } from '../preflight/finding.js'
import { lookAtTopics, mayJoin } from './looking.js'
import { STAGE_TOPICS } from './topics.js'

/**
 * @typedef {import('../preflight/finding.js').Report} Report
 * @typedef {import('../preflight/finding.js').Finding} Finding
 * @typedef {import('./looking.js').Looked} Looked
 * @typedef {import('../../gateway/kafka/client.js').KafkaClient} KafkaClient
 */

const DAY_MS = 86_400_000
/** A spool cuts its records at less, and what it says of itself at more. */
const GOOD_MESSAGE_BYTES = 2 ** 19

/**
 * What about a Kafka cluster breaks the promise, or makes recovery slow. Topics that are missing are looked at as they would be created;
 * nothing is left behind.
 * @param {Record<string, unknown>} options  see gateway/databases/kafka/connection.schema.js
 * @param {{gateway?: string}} [more]  who will stage there; somebody new when left out
 * @returns {Promise<Report>}
 */
export async function preflight (options, { gateway } = {}) {
  const server = connect(options)
  const client = server.client()
  try {
    return await server.use(async () => {
      const { id, brokers } = await client.cluster()
      const findings = [
        ...checkLogin(options),
        ...await checkBrokers(client, brokers),
        ...await checkTopics(client, gateway ?? `preflight-${randomBytes(6).toString('hex')}`, brokers.size)
      ]
      const version = brokers.size === 1 ? 'of one broker' : `of ${brokers.size} brokers`
      return { ok: !findings.some(isError), broker: { name: `Kafka cluster ${id}`, version, protocol: '' }, findings }
    })
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return { ok: false, broker: null, findings: [finding('error', 'connect', error.message)] }
  } finally {
    await client.close()
  }
}

/** Who else may write, and who may read along. @param {Record<string, unknown>} options */
function checkLogin ({ host = '127.0.0.1', login = 'none', tls = 'off' }) {
  const isNear = brokersIn({ host: String(host), port: 0 }).every(({ host: name }) => isLocal(name))
  const open = finding(isNear ? 'info' : 'warning', 'open-broker',
    said`The brokers let in whoever reaches them, without a login: anybody there can read all data, store rows in the name of this gateway,
      and have the spools send everything again and again.`,
    said`Unless only this machine reaches them, have them ask for a login, give each gateway a user of its own, and choose the kind of login
      in the node.`)
  const bare = finding('warning', 'no-tls',
    said`The brokers are on other machines, and the connection is not encrypted: whoever is on the way can read and change all that is
      sent.`,
    said`Have the brokers listen with TLS, and switch it on in the node.`)
  return [...login === 'none' ? [open] : [], ...tls === 'off' && !isNear ? [bare] : []]
}

/** Whether each is where the cluster says. @param {KafkaClient} client @param {Map<number, {host: string, port: number}>} brokers */
async function checkBrokers (client, brokers) {
  const found = await Promise.all(Array.from(brokers, async ([node, { host, port }]) => {
    const reason = await client.reach(node).then(() => null, error => describe(reasonOf(error)))
    if (reason === null) return []
    const place = `${host}:${port}`
    return [finding('warning', 'broker-away',
      said`The cluster says that a broker is at ${place}, where it was not reached (${reason}): what it leads waits in the spools.`,
      said`Start it, or have it name an address that this machine reaches (advertised.listeners).`)]
  }))
  return found.flat()
}

/** @param {KafkaClient} client @param {string} gateway @param {number} brokers  in the cluster */
async function checkTopics (client, gateway, brokers) {
  const looked = await lookAtTopics(client)
  const findings = [...rightsFindings(looked, await mayJoin(client, gateway)), ...looked.flatMap(each => judge(each, brokers))]
  return findings.filter(({ text }, i) => findings.findIndex(other => other.text === text) === i) // what is alike of several, once
}

/** What a user lacks. @param {Looked[]} looked @param {boolean} isMember @returns {Finding[]} */
export function rightsFindings (looked, isMember) {
  const lacking = Map.groupBy(looked.filter(({ lacking: its }) => its.length > 0), ({ lacking: its }) => its.join(', '))
  const texts = Array.from(lacking, ([rights, its]) =>
    said`This user lacks a right that staging needs on topics (${rights}): ${its.map(({ topic }) => topic.name).join(', ')}.`)
  if (!isMember) texts.push(said`This user lacks a right that reading what is staged needs on groups (Read): sluice….`)
  return texts.map(text => finding('error', 'rights', text,
    said`Allow it Create, Describe, DescribeConfigs, Read and Write on topics with the prefix sluice_stage_, and Read on groups with the
      prefix sluice (kafka-acls.sh --add --resource-pattern-type prefixed).`))
}

/** @param {Looked} looked @param {number} brokers @returns {Finding[]} */
function judge ({ topic: { name, configs: created }, replicas, configs, problem }, brokers) {
  if (problem) {
    return [finding('error', 'topic', said`The topic ${name} cannot be looked at, or created: ${describe(reasonOf(problem))}.`,
      said`Put this right in the cluster, and try again.`)]
  }
  if (!configs) return []
  /** @type {Finding[]} */
  const findings = []
  /** @param {Parameters<typeof finding>} args */
  const add = (...args) => { findings.push(finding(...args)) }
  const config = (/** @type {string} */ key, /** @type {string} */ usual) => configs.get(key) || usual
  const wanted = created['cleanup.policy'] ?? 'delete'
  const policy = config('cleanup.policy', wanted)
  if (policy !== wanted) {
    add('error', 'cleanup-policy', wanted === 'compact'
      ? said`The topic ${name} has the cleanup policy "${policy}": what the spools hold and who reads is forgotten.`
      : said`The topic ${name} has the cleanup policy "${policy}": only the newest batch of each source is kept.`,
    said`Set its cleanup.policy to ${wanted}.`)
  }
  if (config('unclean.leader.election.enable', 'false') === 'true') {
    add('warning', 'unclean-election',
      said`A broker that lacks the newest of ${name} may take it over: what that loses comes again from the spools.`,
      said`Set its unclean.leader.election.enable to false.`)
  }
  if (brokers === 1) {
    add('info', 'one-broker',
      said`A single broker acknowledges what is not on its disk yet: what a loss of power takes comes again from the spools.`)
  } else if (replicas < Math.min(3, brokers)) {
    add('warning', 'replicas', replicas === 1
      ? said`The topic ${name} has no second copy: while a broker is away, it may be, too.`
      : said`The topic ${name} has 2 copies: while a broker is away, it may be, too.`,
    said`Give it three replicas (default.replication.factor, before it is created).`)
  } else if (Number(config('min.insync.replicas', '1')) < 2) {
    add('warning', 'in-sync',
      said`What is sent to ${name} is acknowledged once a single broker has it: what that loses comes again from the spools.`,
      said`Set its min.insync.replicas to 2.`)
  }
  const retentionMs = Number(config('retention.ms', '-1'))
  if (name === STAGE_TOPICS.data.name && retentionMs >= 0 && retentionMs < DAY_MS) {
    add('warning', 'retention',
      said`Batches are kept for ${Math.round(retentionMs / 60_000)} min: those of a longer outage come again from the spools.`,
      said`Raise its retention.ms: to as long as a database may be away.`)
  }
  const bytes = Number(config('max.message.bytes', String(2 ** 20)))
  if (bytes < GOOD_MESSAGE_BYTES) {
    add('warning', 'small-messages', said`The topic ${name} takes no records of more than ${bytes} bytes: batches are cut to that.`,
      said`Raise its max.message.bytes to 1 MiB.`)
  }
  return findings
}
