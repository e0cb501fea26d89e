import { isUtf8 } from 'node:buffer'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { recognises } from '../../gateway/messages/codecs/arrow/arrow.js'

/**
 * @typedef {import('../../gateway/kafka/group.js').KafkaMessage} KafkaMessage
 * @typedef {import('../../gateway/messages/mapping/mapping.js').Mapper} Mapper
 */

const NS_PER_MS = 1_000_000n
/** As Kafka has a record without one. */
const NO_TIME_NS = -NS_PER_MS
const MAX_KEY_BYTES = 500

/**
 * A message of Kafka as a third-party one of MQTT: its topic is that of Kafka and, where the key is text, a slash and the key. What has no
 * time of its own has that of the message.
 * @param {Pick<KafkaMessage, 'key'|'headers'|'timestamp'>} message
 * @param {string} kafkaTopic
 */
export function asOfMqtt ({ key, headers, timestamp }, kafkaTopic) {
  return {
    topic: isText(key) ? `${kafkaTopic}/${key}` : kafkaTopic,
    contentType: headers.find(([name]) => name?.toString() === 'content-type')?.[1]?.toString(),
    timeNs: timestamp * NS_PER_MS
  }
}

/**
 * An Arrow stream that no mapping is for is what it says it is: the blocks of a Kafka sink.
 *
 * What a message has depends on nothing else: it is the same whenever, and by whomever, it is read.
 * @param {Mapper} mapper
 * @param {Buffer} value
 * @param {ReturnType<typeof asOfMqtt>} message
 * @param {string} kafkaTopic
 */
export function readValue (mapper, value, { topic, contentType, timeNs }, kafkaTopic) {
  let isNeeded = false
  const now = () => {
    isNeeded = true
    return timeNs
  }
  const isOwn = recognises(value) && mapper.find(topic) === -1
  const content = isOwn
    ? decodeMessage(value, { source: kafkaTopic, contentType, now })
    : mapper.decode(value, { topic, contentType, now })
  const hasTime = timeNs !== NO_TIME_NS
  if (!isNeeded || (hasTime && BigInt.asIntN(64, timeNs) === timeNs)) return content
  const reason = hasTime
    ? `the time of the record, ${timeNs / NS_PER_MS} ms, is none that can be stored`
    : 'neither the record nor what is in it has a time'
  return { batches: [], refused: [{ index: -1, reason, value }] }
}

/** @param {Mapper} mapper @param {KafkaMessage} message  with a value @param {string} topic */
export function readMessage (mapper, message, topic) {
  return readValue(mapper, /** @type {Buffer} */ (message.value), asOfMqtt(message, topic), topic)
}

/** @param {Buffer|null} key @returns {key is Buffer} */
function isText (key) {
  // eslint-disable-next-line no-control-regex -- a topic may have none: they are what is looked for
  return key !== null && key.length > 0 && key.length <= MAX_KEY_BYTES && isUtf8(key) && !/[\u0000-\u001f\u007f]/.test(key.toString())
}
