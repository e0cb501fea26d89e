import { gatewayId } from '../../broker/gateway-id.js'
import { readMessage } from '../../broker/kafka-in/messages.js'
import { topicsOf } from '../../broker/kafka-in/topics.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { namingDisk } from '../../gateway/base/disk-full.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { headlineOf } from '../../gateway/base/headlines.js'
import { openQueue } from '../../gateway/dead-letters/open-queues.js'
import { groupsAtOdds } from '../../gateway/flow/kafka-groups.js'
import { sinks as registry } from '../../gateway/flow/sinks.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { nameOf, namesOf, stageNameOf } from '../names.js'
import { dataDir, defineNode, failClosing, logOf, throttledStatus } from '../node.js'
import { leaseServer } from '../sinks/server-node.js'
import { configsOf, sinksBehind } from '../sinks/wired.js'
import { onInterruption } from './interruptions.js'
import { schema } from './kafka-in.schema.js'
import { countingOn, deliveriesOf, emitting, noSinks, readingStatus } from './reading.js'
import { RefusedContent } from './refused-content.js'

/** @typedef {import('../../gateway/databases/kafka/connection.js').KafkaServer} KafkaServer */

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-kafka-in', schema, async (node, options) => {
    const mapper = new Mapper(options.mappings, options)
    const show = throttledStatus(node)
    let isStarted = false
    let wire = () => {}
    const stopListening = onFlows(RED, 'flows:started', () => {
      isStarted = true
      wire()
      const [pair] = groupsAtOdds(configsOf(RED)).filter(its => its.some(({ id }) => id === node.id))
      if (pair) node.warn(describe(atOdds(pair, namesOf(RED))))
    })
    const opening = open(RED, node, options, mapper).catch(error => { throw namingDisk(error, dataDir(RED)) })
    node.on('close', async (/** @type {boolean} */ _removed, /** @type {() => void} */ done) => {
      stopListening()
      try {
        const { consumer, refused, stop } = await opening
        stop()
        registry.holdUp(node.id, [], [])
        await closeAll(() => consumer.close(), () => refused.close())
      } catch (error) {
        failClosing(RED, node, error)
      }
      done()
    })
    const { consumer, meter, server } = await opening
    wire = () => consumer.wire(sinksOf(RED, node, isStarted))
    wire()
    if (consumer.state.sinks === 0) node.warn(describe(noSinks('Wire a sink behind it.')))
    consumer.on('changed', () => {
      registry.holdUp(node.id, consumer.sinks, consumer.heldUpBy)
      const problem = consumer.problem && server.said(consumer.problem)
      show(statusOf({ ...consumer.state, lost: meter.lost, notKept: meter.dropped }, problem))
    })
  })
}

/** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {any} options @param {Mapper} mapper */
async function open (RED, node, options, mapper) {
  const { KafkaConsumer } = await import('../../broker/kafka-in/consumer.js')
  const name = nameOf(RED, node)
  const key = node.name || node.id
  const refused = await openQueue(RED.settings.userDir, { key: `${key} (refused)`, name: `${name} (refused)` }, logOf(node))
  const lease = await leaseServer(RED, options.server).catch(async error => {
    await refused.close()
    throw error
  })
  const server = /** @type {KafkaServer} */ (/** @type {unknown} */ (lease.server))
  const meter = stats.ownMeter(stageNameOf(name, 'kafka in'), node.id)
  const content = new RefusedContent(refused.queue, meter, logOf(node))
  const consumer = new KafkaConsumer({
    cluster: server,
    group: options.group,
    topics: topicsOf(options.topics),
    begin: options.begin,
    reader: node.id,
    own: await gatewayId(dataDir(RED)),
    sinks: sinksOf(RED, node, false),
    registry,
    deliveries: deliveriesOf(options),
    decode: (message, topic) => readMessage(mapper, message, topic),
    emit: emitting(node),
    onRefused: (topic, values) => new Promise(resolve => { content.keep(topic, values, () => resolve(undefined)) }),
    window: options.inFlight,
    overdueMs: options.overdueMs,
    log: logOf(node)
  })
  consumer.on('changed', countingOn(meter, () => consumer.state))
  const dropGauge = stats.gauge(`kafka in ${name}`, () => {
    const { waitingFor, ...state } = consumer.state
    const problem = consumer.problem && describe(server.said(consumer.problem))
    return { ...state, connected: problem === null, broker: server.place, problem, waitingFor: waitingFor.join(', ') }
  }, node.id)
  const stopListening = onInterruption(RED, node.id, { begun: () => consumer.doubt(), over: () => consumer.emitWaiting() })
  const stop = () => {
    stopListening()
    dropGauge()
    content.close()
    lease.release()
  }
  return { consumer, meter, refused, server, stop }
}

/**
 * The sinks that its messages reach, by the wiring as it is now.
 * @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {boolean} isStarted  all nodes that run exist
 */
function sinksOf (RED, node, isStarted) {
  return sinksBehind(configsOf(RED), node.id, namesOf(RED)).map(({ node: id, sink, label }) => {
    return { id, sink, label, isDisabled: isStarted && !RED.nodes.getNode(id) }
  })
}

/** @param {import('../../gateway/flow/kafka-groups.js').Member[]} pair @param {Map<string, string>} names  of nodes */
function atOdds (pair, names) {
  const [one, other] = pair.map(({ id }) => `"${names.get(id) ?? id}"`)
  const what = `${one} and ${other} share the group "${pair[0].group}" and a topic, but not their sinks: each of these gets only a part.`
  return new SluiceError('SLUICE_KAFKA_GROUP', what, { fix: 'Give each a group of its own, or wire the same sinks behind both.' })
}

/**
 * @param {import('../../broker/kafka-in/consumer.js').KafkaConsumer['state'] & {notKept: number}} state
 * @param {Error|null} problem
 */
export function statusOf (state, problem) {
  const { partitions, lost, parked, refused, notKept, clashes } = state
  const waits = (/** @type {string} */ text) => /** @type {const} */ ({ fill: 'yellow', shape: 'ring', text })
  return readingStatus(state, {
    losses: { 'records lost': lost, parked, refused, 'not kept': notKept, 'identity clashes': clashes },
    broken: problem && { ...waits(headlineOf(problem, { database: 'Kafka' })), problem: describe(problem) },
    waiting: partitions === 0 ? waits('no partition yet') : null
  })
}
