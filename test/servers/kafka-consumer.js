import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { jarsOf, kafka } from './java/jars.js'

/** After that, it ends with fewer. */
const SILENCE_MS = 30_000

/**
 * The values of a topic, as Kafka's own consumer prints them of what is committed, a line each.
 * @param {number} port
 * @param {string} topic
 * @param {number} count  that are there: it ends with the last
 * @returns {AsyncGenerator<string, void, void>}
 */
export async function * consumed (port, topic, count) {
  if (count === 0) return
  const consumer = spawn('java', [
    '-cp', jarsOf(kafka), '-Dorg.slf4j.simpleLogger.defaultLogLevel=off', '-XX:TieredStopAtLevel=1',
    'org.apache.kafka.tools.consumer.ConsoleConsumer', '--bootstrap-server', `127.0.0.1:${port}`, '--topic', topic,
    '--from-beginning', '--isolation-level', 'read_committed', '--max-messages', String(count), '--timeout-ms', String(SILENCE_MS)
  ], { stdio: ['ignore', 'pipe', 'ignore'] })
  yield * createInterface({ input: consumer.stdout })
}
