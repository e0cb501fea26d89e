import { KafkaStore } from '../stores/kafka.js'

export const title = 'Kafka'

export async function missing () {
  const { missingKafka } = await import('../../servers/kafka.js')
  return missingKafka()
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startKafka } = await import('../../servers/kafka.js')
  const server = await startKafka({ dir: folder })
  const { port } = server
  return {
    type: 'kafka',
    sink: { format: 'json' },
    server: { host: '127.0.0.1', port },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: async () => new KafkaStore(port),
    stop: () => server.stop()
  }
}
