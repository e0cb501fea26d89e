import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, FetchIsolationLevels, Producer } from '@platformatic/kafka'
import { KafkaClient } from '../../kafka/client.js'
import { committed } from '../../kafka/committed.js'
import { fetchApi } from '../../kafka/fetch.js'
import { decode, encode } from '../../messages/codecs/arrow/arrow.js'
import { refuseWhatIsThere } from '../empty.js'
import { makeTable } from './open.js'

/** @typedef {import('../../batch/batch.js').Batch} Batch */

/** What the driver's loop was about best with, of 5000 to 50,000 rows a record, 1 to 8 records a send, and 1 to 4 sends under way. */
const LOADER_ROWS = 10_000
const LOADER_RECORDS = 5
const LOADER_SENDS = 2

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'Kafka, Arrow, transactions',
  missing: servers => servers('kafka').missing(),
  async start (folder, servers) {
    const server = await servers('kafka').start({ folder })
    const { host, port, user, password } = server
    const login = { host, port, user, password, login: user ? 'scram-sha-512' : 'none' }
    const client = new KafkaClient(/** @type {any} */ (login))
    const address = { type: 'kafka', options: { format: 'arrow' }, login }
    const bare = bareOptions(login)
    const [admin, producer] = [new Admin(bare), new Producer(bare)]
    const topics = async () => (await admin.listTopics()).filter(name => !name.startsWith('__')) // those are Kafka's own
    const clear = async () => {
      const names = await topics()
      if (names.length > 0) await admin.deleteTopics({ topics: names })
      while ((await topics()).length > 0) await sleep(20) // the broker hears of it a moment later
    }
    await refuseWhatIsThere({ ...server, database: `${host}:${port}` }, topics)
    return {
      version: 'Kafka',
      address,
      watched: server.watched,
      clear,
      async count () {
        let count = 0
        for (const name of await topics()) {
          if (name !== 'sluice_commits') count += await rowsIn(client, name)
        }
        return count
      },
      loader: {
        name: `the driver, ${LOADER_RECORDS} records of ${LOADER_ROWS} rows a send, ${LOADER_SENDS} at once, without transactions`,
        async run (batches) {
          await makeTable(address, batches[0])
          for (const messages of messagesOf([batches[0].slice(0, 1)])) await producer.send({ messages, acks: -1 }) // connects
          const start = performance.now()
          const waiting = messagesOf(batches)
          await Promise.all(Array.from({ length: LOADER_SENDS }, async () => {
            for (const messages of waiting) await producer.send({ messages, acks: -1 })
          }))
          return (performance.now() - start) / 1000
        }
      },
      naive: {
        name: 'a record of JSON a row, awaited',
        rows: 5000,
        async run (batches) {
          await makeTable(address, batches[0])
          const start = performance.now()
          for (const { source, time, columns: [sensors, values] } of batches) {
            for (const [row, ns] of time.entries()) {
              const value = Buffer.from(JSON.stringify({ time: String(ns), sensor: sensors[row], value: values[row] }))
              await producer.send({ messages: [{ topic: source, key: Buffer.from(source), value }], acks: -1 })
            }
          }
          return (performance.now() - start) / 1000
        }
      },
      async remove () {
        if (!server.remove) await clear()
        await Promise.all([admin.close(), producer.close(), client.close()])
        await server.remove?.()
      }
    }
  }
}

/** Of the library's own clients. @param {{host: string, port: number, user: string, password: string}} login */
export function bareOptions ({ host, port, user, password }) {
  return {
    clientId: 'bench',
    bootstrapBrokers: [{ host, port }],
    ...user && { sasl: { mechanism: /** @type {const} */ ('SCRAM-SHA-512'), username: user, password } }
  }
}

/** What one send has, each record a block of rows. @param {Batch[]} batches */
function * messagesOf (batches) {
  let messages = []
  for (const batch of batches) {
    const key = Buffer.from(batch.source)
    for (let from = 0; from < batch.rows; from += LOADER_ROWS) {
      messages.push({ topic: batch.source, key, value: encode(batch.slice(from, Math.min(batch.rows, from + LOADER_ROWS))) })
      if (messages.length < LOADER_RECORDS) continue
      yield messages
      messages = []
    }
  }
  if (messages.length > 0) yield messages
}

/** Rows of a topic of one partition, once all transactions have ended. @param {KafkaClient} client @param {string} name */
async function rowsIn (client, name) {
  const topic = await client.topic(name, { isFresh: true })
  if (!topic) return 0
  let rows = 0
  for (let fetchOffset = 0n; ;) {
    const partition = { partition: 0, currentLeaderEpoch: -1, fetchOffset, lastFetchedEpoch: -1, partitionMaxBytes: 2 ** 25 }
    const { responses: [{ partitions: [found] }] } = await client.ask(
      fetchApi, topic.partitions[0].leader, 100, 1, 2 ** 25, FetchIsolationLevels.READ_COMMITTED, 0, -1,
      [{ topicId: topic.id, partitions: [partition] }], [], '')
    for (const { batch, messages } of committed(found)) {
      for (const { value } of messages()) rows += decode(/** @type {Buffer} */ (value)).rows
      fetchOffset = batch.next
    }
    if (fetchOffset >= found.highWatermark) return rows
  }
}
