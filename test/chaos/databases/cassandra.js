import { CassandraStore } from '../stores/cassandra.js'

export const title = 'Cassandra'

const DATABASE = 'chaos'

export async function missing () {
  const { missingCassandra } = await import('../../servers/cassandra.js')
  return missingCassandra()
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startCassandra } = await import('../../servers/cassandra.js')
  const server = await startCassandra({ dir: folder })
  const { port } = server
  return {
    type: 'cassandra',
    sink: {},
    server: { host: '127.0.0.1', port, database: DATABASE },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: () => CassandraStore.open({ port, database: DATABASE }),
    stop: () => server.stop()
  }
}
