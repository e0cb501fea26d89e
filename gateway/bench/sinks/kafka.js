import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin, FetchIsolationLevels, Producer } from '@platformatic/kafka'
import { SluiceError } from '../../base/errors.js'
import { KafkaClient } from '../../kafka/client.js'
import { committed } from '../../kafka/committed.js'
import { fetchApi } from '../../kafka/fetch.js'
import { decode, encode } from '../../messages/codecs/arrow/arrow.js'
import { refuseWhatIsThere } from '../empty.js'
import { narrowBatches } from '../narrow-rows.js'
import { makeTable } from './open.js'

/** Kafka's own measure of a producer: records of the size of that many of our rows, in the largest requests that a topic takes. */
const PERF_TEST = 'kafka-producer-perf-test.sh'
const RECORD_ROWS = 10_000
const REQUEST_BYTES = 1_000_000
/** Records of perf-test that are not counted: Java has just started. */
const WARM_UP_RECORDS = 100

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
        name: `${PERF_TEST}, records of the bytes of ${RECORD_ROWS} rows, made before, without transactions`,
        async run (batches) {
          await makeTable(address, batches[0])
          const rows = batches.reduce((sum, batch) => sum + batch.rows, 0)
          const records = Math.ceil(rows / RECORD_ROWS) + WARM_UP_RECORDS
          const settings = join(folder, 'perf-test.properties')
          await writeFile(settings, perfTestSettings(login), { mode: 0o600 })
          const [program, ...args] = server.program?.command ?? [PERF_TEST]
          const output = await outputOf(program, [
            ...args, '--command-config', settings, '--topic', batches[0].source, '--throughput', '-1',
            '--num-records', String(records), '--warmup-records', String(WARM_UP_RECORDS),
            '--record-size', String(encode(narrowBatches({ rows: RECORD_ROWS, batchRows: RECORD_ROWS, source: 'rows' })[0]).length)
          ])
          const rates = Array.from(output.matchAll(/([\d.]+) records\/sec/g), ([, rate]) => Number(rate))
          if (rates.length === 0) throw new SluiceError('SLUICE_BENCH_PROCESS', `${program} told no rate, but:\n${output}`)
          return rows / RECORD_ROWS / rates[rates.length - 1]
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

/** @param {{host: string, port: number, user: string, password: string}} login */
function perfTestSettings ({ host, port, user, password }) {
  const quoted = (/** @type {string} */ text) => JSON.stringify(text).replaceAll('\\', '\\\\')
  const module = `org.apache.kafka.common.security.scram.ScramLoginModule required username=${quoted(user)} password=${quoted(password)};`
  return [
    `bootstrap.servers=${host}:${port}`, 'acks=all', `batch.size=${REQUEST_BYTES}`,
    ...user ? ['security.protocol=SASL_PLAINTEXT', 'sasl.mechanism=SCRAM-SHA-512', `sasl.jaas.config=${module}`] : []
  ].join('\n')
}

/** @param {string} program @param {string[]} args */
async function outputOf (program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [chunks] = await Promise.all([child.stdout.toArray(), once(child, 'close')])
  return Buffer.concat(chunks).toString()
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
