import { ClickhouseStore } from '../stores/clickhouse.js'

export const title = 'ClickHouse'

export async function missing () {
  const { missingClickhouse } = await import('../../servers/clickhouse.js')
  return missingClickhouse()
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startClickhouse } = await import('../../servers/clickhouse.js')
  return databaseOf(await startClickhouse({ dir: folder }))
}

/** @param {import('../../servers/clickhouse.js').ClickhouseServer} server @returns {import('./index.js').Database} */
export function databaseOf (server) {
  const { port, user, password, database } = server
  return {
    type: 'clickhouse',
    sink: {},
    server: { host: '127.0.0.1', port, database },
    credentials: { user, password },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: async () => new ClickhouseStore(server),
    stop: () => server.stop()
  }
}
