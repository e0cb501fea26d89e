import { setTimeout as sleep } from 'node:timers/promises'
import { STAGE_TOPICS } from '../../../broker/kafka/topics.js'
import { KafkaClient } from '../../../gateway/kafka/client.js'
import { connect } from '../../../gateway/databases/kafka/connection.js'
import { TransactionalProducer } from '../../../gateway/kafka/producer.js'
import { open } from '../../../gateway/databases/kafka/sink.js'
import { Pipeline } from '../../broker/pipeline.js'
import { KafkaReader } from '../../servers/kafka-reader.js'

/**
 * A topic that the Kafka sink has written.
 * @param {{port: number}} kafka @param {string} topic @param {import('../../../gateway/batch/batch.js').Batch[]} batches
 */
export async function stage ({ port }, topic, batches) {
  const sink = await open(/** @type {any} */ ({ table: topic, partitions: 3 }), { server: connect({ port }) })
  for (let from = 0; from < batches.length; from += 10) await sink.write(batches.slice(from, from + 10))
  await sink.close()
}

/**
 * What a *stage out* has written to the topic of staging itself: all of it is there when this resolves.
 * @param {{port: number}} kafka @param {import('../../../gateway/batch/batch.js').Batch[]} batches
 */
export async function stageOut ({ port }, batches) {
  const pipeline = await Pipeline.create({ kafka: { port } })
  const reader = new KafkaReader({ port })
  try {
    const { it: spool } = await pipeline.openStage({ gateway: 'plant' })
    for (const batch of batches) await spool.append(batch.withIdentity(null))
    while ((await reader.committed(STAGE_TOPICS.data.name)).length < batches.length) await sleep(200)
  } finally {
    await reader.close()
    await pipeline.close()
  }
}

/**
 * What another has written to it.
 * @param {{port: number}} kafka @param {string} topic @param {Buffer[]} values
 * @param {{isCommitted: boolean}} how
 */
export async function produce ({ port }, topic, values, { isCommitted }) {
  const login = { login: 'none', user: '', password: '', tls: 'off', ca: '' }
  const client = new KafkaClient(/** @type {any} */ ({ host: '127.0.0.1', port, ...login }))
  const producer = new TransactionalProducer(client, `other ${isCommitted}`, 'none')
  await producer.open()
  await producer.send(values.map(value => ({ topic, partition: 0, key: Buffer.from('other'), value, headers: new Map() })))
  await producer.end(isCommitted)
  await client.close()
}
