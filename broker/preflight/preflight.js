import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError, describe } from '../../gateway/base/errors.js'
import { connect } from '../connection/connection.js'
import { deferAcks } from '../in/deferred-acks.js'
import { gatewayTopics, ROOT } from '../topics.js'
import { said } from '../../gateway/stats/phrases.js'
import { checkAccess, checkEncryption, checkOpenness } from './access.js'
import { finding, isError } from './finding.js'
import { connected, nameOf, open, publishMany, within } from './probing.js'

/**
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('../../gateway/stats/phrases.js').Phrase} Phrase
 * @typedef {import('./finding.js').Finding} Finding
 * @typedef {import('./finding.js').Report} Report
 *
 * @typedef {object} Probe
 * @property {import('../connection/connection.js').BrokerOptions} options
 * @property {MqttClient} client
 * @property {string} gateway  below whose name it keeps
 * @property {string} id  random, of this run
 * @property {string} topic  below which this run has everything to itself
 * @property {Finding[]} findings
 */

/** More than Mosquitto's default queue of 1000 messages, with its 20 in flight. */
const QUEUE_PROBE = 1500
/** A window below this slows sinks down, which acknowledge in batches. */
const GOOD_WINDOW = 100
const RECEIVE_MAXIMUM = 1000
const SESSION_SECONDS = 7 * 86_400
const GOOD_PACKET_BYTES = 2 ** 20
/** After an answer, nothing more comes after so long a silence. */
const SILENCE_MS = 200
/** What is kept may come so much later than that a subscription is accepted. */
const LATE_MS = 1000
/** A busy machine, or one far away, takes so long for a queue at most. */
const SLOW_MS = 30_000
const LAST = 'last'

/**
 * What about a broker breaks the promise, found out by trying: takes 1 … 3 s on a near broker, with topics and sessions of its own,
 * below the gateway's name, which it removes.
 * @param {import('../connection/connection.js').BrokerOptions} options
 * @param {{gateway?: string}} [more]  who will use the broker; somebody new when left out
 * @returns {Promise<Report>}
 * @throws {SluiceError} SLUICE_BROKER_OPTIONS
 */
export async function preflight (options, { gateway } = {}) {
  const id = randomBytes(6).toString('hex')
  /** @type {Finding[]} */
  const findings = []
  let connection
  try {
    connection = await open(options, { clientId: `sluice-preflight-${id}` })
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code === 'SLUICE_BROKER_OPTIONS') throw error
    findings.push(finding('error', 'connect', error.message))
    return { ok: false, broker: null, findings }
  }

  const { client } = connection
  const name = gateway ?? `preflight-${id}`
  const probe = { options, client, gateway: name, id, topic: gatewayTopics(name).preflight(id), findings }
  const protocol = connection.protocolVersion === 5 ? '5' : '3.1.1'
  try {
    const broker = { ...await nameOf(client), protocol: /** @type {'5'|'3.1.1'} */ (protocol) }
    for (const [what, check] of CHECKS) {
      try {
        await check(probe)
      } catch (error) {
        const text = said`${what} could not be checked: ${describe(error)}`
        findings.push(finding('error', 'not-checked', text, said`Run the preflight again.`))
      }
      if (PRECONDITIONS.has(check) && findings.some(isError)) {
        const fix = said`Put this right, and run the preflight again.`
        findings.push(finding('info', 'not-checked', said`The rest was not checked.`, fix))
        break
      }
    }
    return { ok: !findings.some(isError), broker, findings }
  } finally {
    await connection.close()
  }
}

/** @type {[what: Phrase, check: (probe: Probe) => void|Promise<void>][]} */
const CHECKS = [
  [said`What the broker allows`, checkLimits],
  [said`Access to the topics`, checkAccess],
  [said`Who else has access`, checkOpenness],
  [said`Encryption`, checkEncryption],
  [said`Retained messages`, checkRetained],
  [said`Session and queue`, checkSession],
  [said`What it keeps on disk`, tellUnseen]
]

/** Without these the others can only fail. @type {Set<(probe: Probe) => void|Promise<void>>} */
const PRECONDITIONS = new Set([checkLimits, checkAccess])

/** @param {Probe} probe */
function checkLimits ({ client, findings }) {
  const limits = client.serverProperties ?? {}
  if (client.options.protocolVersion !== 5) {
    findings.push(finding('info', 'mqtt-3.1.1',
      said`The broker speaks MQTT 3.1.1: it sets how many messages a sink has in hand, and says nothing about its largest message.`))
  }
  if (limits.maximumQoS === 0) {
    findings.push(finding('error', 'no-qos-1',
      said`The broker passes messages on at QoS 0 only, which may lose them.`,
      said`Allow QoS 1 (Mosquitto: max_qos).`))
  }
  if (limits.wildcardSubscriptionAvailable === false) {
    findings.push(finding('error', 'no-wildcards',
      said`The broker does not allow subscriptions with wildcards.`,
      said`Allow them below ${ROOT}/.`))
  }
  if (limits.maximumPacketSize !== undefined && limits.maximumPacketSize < GOOD_PACKET_BYTES) {
    findings.push(finding('warning', 'small-packets',
      said`The broker refuses messages of more than ${limits.maximumPacketSize} bytes.`,
      said`Allow larger ones (Mosquitto: message_size_limit, max_packet_size), or keep batches smaller than that.`))
  }
}

/** @param {Probe} probe */
async function checkRetained ({ options, id, topic, findings }) {
  // On a connection of its own: a broker that keeps none may end it.
  const connection = await open(options, { clientId: `sluice-preflight-${id}-retained` })
  try {
    if (await keepsRetained(connection.client, `${topic}/retained`)) return
    findings.push(finding('error', 'no-retained-messages',
      said`The broker keeps no retained messages: a sink that connects late does not hear what the spools hold.`,
      said`Allow them (Mosquitto: retain_available true).`))
  } finally {
    await connection.close({ patienceMs: 0 })
  }
}

/** @param {MqttClient} client @param {string} topic */
async function keepsRetained (client, topic) {
  if (client.serverProperties?.retainAvailable === false) return false
  const ended = new Promise(resolve => client.once('close', () => resolve(false)))
  const published = client.publishAsync(topic, 'x', { qos: 1, retain: true }).then(() => true, () => false)
  if (!await within(Promise.race([published, ended]))) return false
  const kept = new Promise(resolve => {
    client.on('message', (where, _payload, { retain }) => { if (where === topic && retain) resolve(true) })
  })
  await within(client.subscribeAsync(topic, { qos: 1 }), SLOW_MS)
  await within(client.publishAsync(`${topic}/answer`, '', { qos: 1 }), SLOW_MS) // most brokers answer in order, however late
  const isRetained = await within(kept, LATE_MS).catch(() => false)
  await within(client.publishAsync(topic, '', { qos: 1, retain: true }))
  return isRetained
}

/**
 * A session that goes away, is sent more than a default queue holds, and comes back.
 * @param {Probe} probe
 */
async function checkSession ({ options, client, id, topic, findings }) {
  const clientId = `sluice-preflight-${id}-sink`
  const session = { clientId, clean: false, sessionExpirySeconds: SESSION_SECONDS, receiveMaximum: RECEIVE_MAXIMUM }
  try {
    const before = await open(options, session)
    const keptSeconds = before.client.serverProperties?.sessionExpiryInterval ?? SESSION_SECONDS
    await within(before.client.subscribeAsync(`${topic}/queue`, { qos: 1 }))
    await before.close()
    await publishMany(client, `${topic}/queue`, QUEUE_PROBE)

    const returned = await comeBack(options, session, topic)
    if (keptSeconds < SESSION_SECONDS) findings.push(shortSession(keptSeconds))
    if (!returned) return void findings.push(NO_SESSION)
    const { arrived, window } = returned
    if (arrived < QUEUE_PROBE) findings.push(queueLimit(arrived))
    if (window < GOOD_WINDOW && window < arrived) findings.push(smallWindow(window))
  } finally {
    const ending = await open(options, { clientId, clean: true })
    await ending.close()
  }
}

/**
 * How much of what was queued arrives, and how much of it before the broker waits for acknowledgements. Null when the session is gone.
 * @param {import('../connection/connection.js').BrokerOptions} options
 * @param {import('../connection/connection.js').ClientOptions} session
 * @param {string} topic
 */
async function comeBack (options, session, topic) {
  const connection = connect(options, session)
  const { client } = connection
  try {
    /** @type {Set<string>} */
    const arrived = new Set()
    /** @type {(() => void)[]|null} what the broker waits for, until it has stopped sending */
    let held = []
    deferAcks(client, ({ payload }, ack) => {
      arrived.add(String(payload))
      if (held) held.push(ack)
      else ack()
    })
    const { sessionPresent } = await connected(connection)
    if (!sessionPresent) return null
    await within(client.publishAsync(`${topic}/answer`, '', { qos: 1 }), SLOW_MS) // a broker answers in order
    for (let before = -1; before !== held.length; await sleep(SILENCE_MS)) before = held.length
    const acks = held
    const window = acks.length
    held = null
    for (const ack of acks) ack()
    // Messages come in order: once one that is published now has arrived, none of those before it is merely late.
    for (let waitedMs = 0; !arrived.has(LAST) && waitedMs < SLOW_MS; waitedMs += SILENCE_MS) {
      await within(client.publishAsync(`${topic}/queue`, LAST, { qos: 1 }), SLOW_MS) // again: a queue that is full drops it
      await sleep(SILENCE_MS)
    }
    arrived.delete(LAST)
    return { arrived: arrived.size, window }
  } finally {
    await connection.close()
  }
}

/** @param {Probe} probe */
function tellUnseen ({ findings }) {
  findings.push(finding('info', 'unseen',
    said`No client can see how often the broker writes its queues to disk, nor the bytes it queues for a sink that is away. What it loses
      comes again from the spools.`,
    said`On Mosquitto, compare with broker/mosquitto.conf: persistence, autosave_interval, max_queued_bytes.`))
}

const NO_SESSION = finding('error', 'no-session',
  said`The broker forgets a session when its client disconnects: each interruption of a sink loses what was queued, and the spools send it
    again.`,
  said`Allow persistent sessions.`)

/** @param {number} seconds @returns {Finding} */
function shortSession (seconds) {
  return finding('warning', 'short-session',
    said`The broker keeps the session of a sink that is away for ${seconds} s only; then the spools have to send again.`,
    said`Raise its largest session expiry interval (Mosquitto: persistent_client_expiration).`)
}

/** @param {number} arrived @returns {Finding} */
function queueLimit (arrived) {
  return finding('error', 'queue-limit',
    said`The broker silently drops messages for a sink that is away: of ${QUEUE_PROBE} that it acknowledged, ${arrived} were delivered.`,
    said`Limit the queue by bytes, not by messages (Mosquitto: max_queued_messages 0 and max_queued_bytes 268435456).`)
}

/** @param {number} window @returns {Finding} */
function smallWindow (window) {
  return finding('warning', 'small-window',
    said`The broker sends ${window} messages and then waits for acknowledgements, which come when a database has committed: small messages
      will be slow.`,
    said`Allow more (Mosquitto: max_inflight_messages ${RECEIVE_MAXIMUM}), or let MQTT 5 be used.`)
}
