import { join } from 'node:path'
import { Consumer } from '../../broker/in/consumer.js'
import { Members } from '../../broker/in/members.js'
import { localCommits, localReaders } from '../../broker/local.js'
import { brokerIdOf } from '../../broker/stage-options.js'
import { level } from '../../broker/topics.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { namingDisk } from '../../gateway/base/disk-full.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { headlineOf } from '../../gateway/base/headlines.js'
import { openQueue } from '../../gateway/dead-letters/open-queues.js'
import { offerRefused } from '../../gateway/dead-letters/refused-values.js'
import { sinks as registry } from '../../gateway/flow/sinks.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { dataDir, defineNode, failClosing, logOf, throttledStatus } from '../node.js'
import { sentence } from '../status.js'
import { nameOf, namesOf, stageNameOf } from '../names.js'
import { configsOf, hasReader, readersOf } from '../sinks/wired.js'
import { brokerOf, openConnection } from './connection.js'
import { onInterruption } from './interruptions.js'
import { removeLeftovers } from './leftovers.js'
import { countingOn, deliveriesOf, emitting, noSinks, readingStatus } from './reading.js'
import { serveSeen } from './seen.js'
import { ThirdPartyStage } from './third-party.js'
import { schema } from './stage-in.schema.js'

/** @typedef {import('../../broker/in/contract.js').Packet} Packet */

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  serveSeen(RED)
  onFlows(RED, 'flows:started', () => {
    stats.staged = new Set(readersOf(configsOf(RED), '').flatMap(({ sinks }) => sinks.map(({ node }) => node)))
  })
  defineNode(RED, 'sluice-stage-in', schema, async (node, options) => {
    const mapper = new Mapper(options.mappings, options)
    const show = throttledStatus(node)
    let isStarted = false
    let wire = () => {}
    const stopListening = onFlows(RED, 'flows:started', () => {
      isStarted = true
      wire()
      removeLeftovers(join(dataDir(RED), 'spool'), new Set(readersOf(configsOf(RED), '').map(({ id }) => id)))
        .catch(error => node.warn(`What is left of a spool that is gone cannot be removed: ${describe(error)}`))
    })
    const opening = open(RED, node, options, mapper).catch(error => { throw namingDisk(error, dataDir(RED)) })
    node.on('close', async (/** @type {boolean} */ _removed, /** @type {() => void} */ done) => { // true of a disabled one, too
      stopListening()
      try {
        const { consumer, connection, thirdParty, refused, isGone, stop } = await opening
        stop()
        registry.holdUp(node.id, [], [])
        consumer.close({ removed: isGone(node.id) })
        await closeAll(() => connection.close(), () => thirdParty?.close(), () => refused.close())
      } catch (error) {
        failClosing(RED, node, error)
      }
      done()
    })
    const opened = await opening
    const { consumer, link, meter } = opened
    wire = () => {
      const sinks = sinksOf(RED, node, link.gateway, isStarted)
      const twice = sinks.find(({ sink }, i) => sinks.findIndex(other => other.sink === sink) < i)
      if (twice) node.error(describe(sameName(twice.sink)))
      else consumer.wire(sinks)
    }
    wire()
    if (consumer.state.sinks === 0) node.warn(describe(noSinks('Wire a sink behind it, or name the sinks in its form.')))
    consumer.on('changed', () => {
      registry.holdUp(node.id, consumer.sinks, consumer.heldUpBy)
      show(statusOf({ ...consumer.state, notKept: meter.dropped }, opened))
    })
  })
}

/** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {any} options @param {Mapper} mapper */
async function open (RED, node, options, mapper) {
  const key = node.name || node.id
  const name = nameOf(RED, node)
  const { members, onShare } = await membersOf(options)
  const refused = await openQueue(RED.settings.userDir, { key: `${key} (refused)`, name: `${name} (refused)` }, logOf(node))
  const window = 10 * options.receiveMaximum // Mosquitto 2.0.11 sends more than it should once acknowledgements come; 3.1.1 has no limit
  // No broker of Kafka holds anything back: nothing else limits how many small batches are stored in a second.
  const receiveMaximum = options.via === 'kafka' ? window : options.receiveMaximum
  const broker = brokerIdOf(options)
  const onDouble = () => consumer.double()
  const wanted = { broker, role: /** @type {const} */ ('in'), receiveMaximum, ...kafkaGroupOf(options), onShare, onDouble }
  const link = await openConnection(RED, node, wanted).catch(async error => {
    await refused.close()
    throw error
  })
  const { connection, gateway } = link // from here to `receive` nothing is awaited: MQTT.js would acknowledge what comes meanwhile
  const meter = stats.ownMeter(stageNameOf(name, 'stage in'), node.id)
  /** Opened for the first third-party message where no topics are named. @type {ThirdPartyStage|null} */
  let thirdParty = null
  const openThirdParty = () => thirdParty ??= new ThirdPartyStage(RED, node, { options, refused: refused.queue, meter, mapper })
  if (options.foreignTopics.length + mapper.filters.length > 0) openThirdParty()
  /** @param {Packet} packet @param {unknown} reason */
  const refuse = async (packet, reason) => {
    meter.errors++
    const unkept = await offerRefused(refused.queue, packet.topic, [{ index: -1, reason: describe(reason), value: packet.payload }])
    meter.dropped += unkept
    const what = unkept === 0 ? 'Kept a broken batch' : 'The dead letters have no room for a broken batch'
    node.error(`SLUICE_MESSAGE: ${what} on ${packet.topic}: ${reason instanceof Error ? reason.message : reason}`)
  }
  const place = { consumer: options.group ? `group:${options.group}` : gateway, broker }
  const isGone = (/** @type {string} */ id) => !hasReader(configsOf(RED), gateway, { ...place, id })
  const own = `${gateway}.`
  const consumer = new Consumer({
    client: connection.client,
    consumer: place.consumer,
    reader: own + node.id, // in a group, the same flow may run on several gateways
    isGone: reader => reader.startsWith(own) && isGone(reader.slice(own.length)),
    sinks: sinksOf(RED, node, gateway, false),
    own: gateway,
    publishLocally: message => localCommits.publish(message),
    onOwnSpool: spool => localReaders.publish({ spool, reader: node.id }),
    registry,
    deliveries: deliveriesOf(options),
    gateway: options.gateway,
    source: options.source,
    members,
    window,
    overdueMs: options.overdueMs,
    log: logOf(node),
    emit: emitting(node),
    decode: packet => {
      const { batches: [batch], refused: [problem] } = decodeMessage(owned(packet.payload)) // the batch's columns are views of it
      if (!batch) throw new SluiceError('SLUICE_MESSAGE', problem.reason)
      return batch
    },
    onThirdParty: packet => {
      if (options.via === 'kafka') return refuse(packet, new SluiceError('SLUICE_MESSAGE', 'It is no batch of a stage out.'))
      return new Promise(resolve => { openThirdParty().keep(packet, { ack: () => resolve(undefined) }) })
    },
    onRefused: refuse
  })
  connection.receive((packet, ack) => consumer.receive(packet, ack))
  consumer.on('changed', countingOn(meter, () => consumer.counters))
  const dropGauge = stats.gauge(`stage in ${name}`, () => {
    const { waitingFor, ...state } = consumer.state
    return { ...state, ...brokerOf(link), waitingFor: waitingFor.join(', ') }
  }, node.id)
  const dropBalances = stats.balances(() => consumer.balances)
  const stopListening = onInterruption(RED, node.id, { begun: () => consumer.doubt(), over: () => consumer.emitWaiting() })
  const stop = () => {
    stopListening()
    dropGauge()
    dropBalances()
  }
  return { link, connection, consumer, meter, get thirdParty () { return thirdParty }, refused, isGone, stop }
}

/** With whom it shares what it reads. @param {any} options */
async function membersOf ({ via, group, member, members }) {
  if (via !== 'kafka' || !group) return { members: new Members(member, members) }
  const { Share } = await import('../../broker/kafka/share.js')
  const share = new Share()
  return { members: share, onShare: (/** @type {number[]} */ partitions, /** @type {number} */ all) => share.assigned(partitions, all) }
}

/** Its consumer group in Kafka: who reads the same for the same sinks is a member of it. @param {any} options */
function kafkaGroupOf ({ group, gateway, source }) {
  return group ? { group: ['sluice', `group:${group}`, gateway, source].filter(name => name !== '+').map(level).join('/') } : {}
}

/**
 * The sinks that its messages reach, by the wiring as it is now.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {string} gateway
 * @param {boolean} isStarted  all nodes that run exist
 */
function sinksOf (RED, node, gateway, isStarted) {
  const { sinks = [] } = readersOf(configsOf(RED), gateway, namesOf(RED)).find(({ id }) => id === node.id) ?? {}
  return sinks.map(({ node: id, sink, label }) => ({ id, sink, label, isDisabled: isStarted && !RED.nodes.getNode(id) }))
}

/** @param {string} name */
function sameName (name) {
  return new SluiceError('SLUICE_SINK_NAME', `Two sinks behind this node are named "${name}".`, {
    fix: 'In a group, its name is how a spool knows what a sink has stored: give each its own.'
  })
}

/**
 * A payload in memory of its own, which keeps no more than itself alive: MQTT.js hands out parts of what it has read.
 * @param {Buffer} payload
 */
function owned (payload) {
  return payload.buffer.byteLength < 2 * payload.length ? payload : Buffer.from(payload)
}

/**
 * @param {import('../../broker/in/consumer.js').Consumer['state'] & {notKept: number}} state
 *   `notKept`: third-party messages
 * @param {Pick<Awaited<ReturnType<typeof open>>, 'link'|'thirdParty'>} opened
 */
export function statusOf (state, { link, thirdParty }) {
  const { lostRows, parked, refused, clashes, notKept, membersFlaw, held } = state
  return readingStatus(state, {
    losses: { 'rows lost': lostRows, parked, refused, 'not kept': notKept, 'identity clashes': clashes },
    broken: brokenBy(state.connected, link, thirdParty),
    waiting: membersFlaw ? { fill: 'yellow', shape: 'ring', text: sentence(membersFlaw, `${held} in flight`) } : null
  })
}

/**
 * @param {boolean} connected
 * @param {Awaited<ReturnType<typeof open>>['link']} link
 * @param {ThirdPartyStage|null} thirdParty
 * @returns {import('../node.js').Status|null}
 */
function brokenBy (connected, { connection: { problem }, flaw }, thirdParty) {
  if (thirdParty?.problem) return { fill: 'red', shape: 'ring', text: headlineOf(thirdParty.problem) }
  if (!connected || problem) return { fill: 'yellow', shape: 'ring', text: problem ? headlineOf(problem) : 'connecting' }
  if (flaw) return { fill: 'red', shape: 'ring', text: flaw }
  const [topic] = thirdParty?.missingTopics ?? []
  if (topic !== undefined) return { fill: 'yellow', shape: 'ring', text: `not subscribed to ${topic}` }
  const blocked = thirdParty?.blocked
  return blocked ? { fill: 'red', shape: 'dot', text: `third-party messages wait: ${blocked}` } : null
}
