import { isUtf8 } from 'node:buffer'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { recognises } from '../../gateway/messages/codecs/arrow/arrow.js'

/**
 * @typedef {import('../../gateway/kafka/group.js').KafkaMessage} KafkaMessage
 * @typedef {import('../../gateway/messages/mapping/mapping.js').Mapper} Mapper
 */

const NS_PER_MS = 1_000_000n
const MAX_KEY_BYTES = 500

/**
 * Reads messages of Kafka as third-party ones of MQTT: their topic is that of Kafka and, where the key is text, a slash and the key. What
 * has no time of its own has that of the message. An Arrow stream that no mapping is for is what it says it is: the blocks of a Kafka sink.
 *
 * What a message has depends on nothing else: it is the same whenever, and by whomever, it is read.
 * @param {Mapper} mapper
 * @returns {(message: KafkaMessage, topic: string) => import('../../gateway/messages/mapping/mapper.js').Content}
 */
export function messageReader (mapper) {
  return ({ key, value, headers, timestamp }, kafkaTopic) => {
    const bytes = /** @type {Buffer} */ (value)
    const topic = isText(key) ? `${kafkaTopic}/${key}` : kafkaTopic
    const contentType = headers.find(([name]) => name?.toString() === 'content-type')?.[1]?.toString()
    const now = () => timestamp * NS_PER_MS
    if (recognises(bytes) && mapper.find(topic) === -1) return decodeMessage(bytes, { source: kafkaTopic, contentType, now })
    return mapper.decode(bytes, { topic, contentType, now })
  }
}

/** @param {Buffer|null} key @returns {key is Buffer} */
function isText (key) {
  // eslint-disable-next-line no-control-regex -- a topic may have none: they are what is looked for
  return key !== null && key.length > 0 && key.length <= MAX_KEY_BYTES && isUtf8(key) && !/[\u0000-\u001f\u007f]/.test(key.toString())
}
