import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startKafka } from '../../servers/kafka.js'

/**
 * A Kafka to stage in. What it forgets is the harder case: the topics are there as before, and what was in some of their partitions is not.
 * @param {string} dir  for all that it keeps
 * @returns {Promise<import('./brokers.js').Broker>}
 */
export async function startStagingKafka (dir) {
  await mkdir(dir)
  const server = await startKafka({ dir })
  return {
    node: { type: 'sluice-kafka-server', host: '127.0.0.1', port: server.port },
    option: { via: 'kafka', kafka: 'broker' },
    start: () => server.start(),
    stop: () => server.stop(),
    async kill ({ forgets }) {
      await server.kill()
      const staged = (await readdir(server.data)).filter(name => name.startsWith('sluice_stage_'))
      if (forgets) for (const name of staged.filter((_, i) => i % 2 === 0)) await rm(join(server.data, name), { recursive: true })
    }
  }
}
