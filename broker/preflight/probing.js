import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../gateway/base/errors.js'
import { connect } from '../connection/connection.js'

/**
 * What a preflight does with a broker, each with a time limit.
 *
 * @typedef {import('mqtt').MqttClient} MqttClient
 * @typedef {import('mqtt').IPublishPacket} PublishPacket
 */

/** How many messages may be unacknowledged: Mosquitto allows an MQTT 5 publisher 20. */
const PUBLISH_WINDOW = 20

/**
 * A connection that has been made.
 * @param {import('../connection/connection.js').BrokerOptions} options
 * @param {import('../connection/connection.js').ClientOptions} clientOptions
 * @param {number} [patienceMs]
 */
export async function open (options, clientOptions, patienceMs) {
  const connection = connect(options, clientOptions)
  await connected(connection, patienceMs)
  return connection
}

/**
 * The CONNACK of a connection just begun; at the first problem it is ended, and the problem thrown.
 * @param {import('../client.js').BrokerConnection} connection
 * @param {number} [patienceMs]
 * @returns {Promise<import('mqtt').IConnackPacket>}
 */
export async function connected (connection, patienceMs) {
  const { client } = connection
  /** @type {() => void} */
  let refuse = () => {}
  const answer = new Promise((resolve, reject) => {
    refuse = () => { if (connection.problem) reject(connection.problem) }
    client.once('connect', resolve)
  })
  client.on('error', refuse)
  client.on('close', refuse)
  try {
    return await within(answer, patienceMs)
  } catch (error) {
    await connection.close()
    throw error
  } finally {
    client.off('error', refuse)
    client.off('close', refuse)
  }
}

/**
 * The next message of a topic, or null when none comes.
 * @param {MqttClient} client
 * @param {string} topic
 * @param {number} [patienceMs]
 * @returns {Promise<PublishPacket|null>}
 */
export function arrival (client, topic, patienceMs = 1000) {
  return new Promise(resolve => {
    const settle = (/** @type {PublishPacket|null} */ packet) => {
      client.off('message', listen)
      clearTimeout(timer)
      resolve(packet)
    }
    const listen = (/** @type {string} */ where, /** @type {Buffer} */ _payload, /** @type {PublishPacket} */ packet) => {
      if (where === topic) settle(packet)
    }
    // A process that stood still finds its timers due first, and then what has come meanwhile.
    const timer = setTimeout(() => setImmediate(settle, null), patienceMs)
    client.on('message', listen)
  })
}

/** A broker that tells its name does so at once. */
const NAME_MS = 200

/** Publishes '0', '1', … at QoS 1, until all are acknowledged. @param {MqttClient} client @param {string} topic @param {number} count */
export async function publishMany (client, topic, count) {
  let next = 0
  const publishOneByOne = async () => {
    while (next < count) await within(client.publishAsync(topic, String(next++), { qos: 1 }), 10_000)
  }
  await Promise.all(Array.from({ length: PUBLISH_WINDOW }, publishOneByOne))
}

/** @template T @param {Promise<T>} promise @param {number} [patienceMs] @returns {Promise<T>} */
export async function within (promise, patienceMs = 3000) {
  const answered = new AbortController()
  const impatience = sleep(patienceMs, null, { signal: answered.signal }).then(
    async () => {
      await turn() // as in `arrival`
      throw new SluiceError('SLUICE_BROKER_UNREACHABLE', `The broker did not answer within ${patienceMs / 1000} s.`)
    },
    () => /** @type {never} */ (undefined)
  )
  try {
    return await Promise.race([promise, impatience])
  } finally {
    answered.abort()
  }
}

/** What it calls itself. @param {MqttClient} client */
export async function nameOf (client) {
  const topic = '$SYS/broker/version'
  const message = arrival(client, topic, NAME_MS)
  // A broker need not have it, nor let us read it.
  const isAllowed = await within(client.subscribeAsync(topic)).then(() => true, () => false)
  const text = isAllowed ? String((await message)?.payload ?? '') : ''
  const [, name, version] = /^(.+?) version (\S+)/.exec(text) ?? [null, text || 'unknown', '']
  return { name, version }
}
