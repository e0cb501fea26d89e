import { SluiceError } from '../../gateway/base/errors.js'
import { Fetcher } from '../../gateway/kafka/fetcher.js'
import { boundsOf } from '../../gateway/kafka/offsets.js'
import { asOfMqtt, readValue } from '../kafka-in/messages.js'
import { topicsOf } from '../kafka-in/topics.js'
import { Listening } from './listening.js'

/** @typedef {import('../../gateway/kafka/client.js').KafkaClient} KafkaClient */

/** Of each partition, so many of its last offsets come at once. */
const LAST = 100n
const MAX_PARTITIONS = 1000
const NOBODY = -1

/**
 * Listens to topics of Kafka, without any group: to what came last, and what comes. They are read as *Kafka in* reads them.
 * @param {import('../../gateway/databases/kafka/connection.js').KafkaServer} server
 * @param {string[]} names  as its form has them; none: all but Sluice's own
 * @param {{durationMs?: number}} [more]
 */
export function listenToKafka (server, names, more) {
  return new Listening(async listening => {
    const client = server.client()
    const fail = (/** @type {any} */ error) => listening.fail(server.said(error))
    const fetcher = new Fetcher(client, {
      onRecords: ({ topic }, messages) => {
        for (const message of messages) {
          const its = asOfMqtt(message, topic)
          if (message.value === null) listening.count(0)
          else listening.take({ topic: its.topic, payload: message.value, read: (mapper, value) => readValue(mapper, value, its, topic) })
        }
      },
      onGap: () => {},
      onCut: () => {},
      onMissing: () => {},
      onProblem: problem => { if (problem) fail(problem) }
    })
    const begin = async () => {
      const bounds = await newest(client, names.length > 0 ? names : ['*'])
      for (const [stream, { first, end }] of bounds) fetcher.add(stream, { offset: end - LAST > first ? end - LAST : first })
    }
    return {
      begun: begin().catch(fail),
      close: () => {
        fetcher.close()
        return client.close()
      }
    }
  }, more)
}

/** Partitions that somebody leads. @param {KafkaClient} client @param {string[]} names */
async function newest (client, names) {
  const wanted = topicsOf(names)
  const topics = [...await client.topics(wanted instanceof RegExp ? null : wanted)]
    .filter(([name]) => !(wanted instanceof RegExp) || wanted.test(name))
  if (topics.length === 0) {
    throw new SluiceError('SLUICE_LISTEN_REFUSED', `There is no topic ${names.join(', ')}, or this user may not see it.`, {
      fix: 'Check the names, and that this user may read there.'
    })
  }
  const led = topics.flatMap(([topic, { id: topicId, partitions }]) => partitions.map(({ leader }, partition) => {
    return { leader, topic, topicId, partition }
  })).filter(({ leader }) => leader !== NOBODY).slice(0, MAX_PARTITIONS)
  return boundsOf(client, led, ({ leader }) => leader)
}
