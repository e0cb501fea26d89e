import { HbaseStore } from '../stores/hbase.js'

export const title = 'HBase'

const DATABASE = 'chaos'

export async function missing () {
  const { missingHbase } = await import('../../servers/hbase.js')
  return missingHbase()
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startHbase } = await import('../../servers/hbase.js')
  const server = await startHbase({ dir: folder })
  const { port } = server
  return {
    type: 'hbase',
    sink: {},
    server: { host: '127.0.0.1', port, database: DATABASE },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: async () => new HbaseStore({ port, database: DATABASE }),
    stop: () => server.stop()
  }
}
