import { databaseOf } from './clickhouse.js'

export const title = 'ClickHouse 18.16'

export async function missing () {
  const { missingOldClickhouse } = await import('../../servers/clickhouse.js')
  return missingOldClickhouse() && 'ClickHouse 18.16 is not installed. On Debian 12: apt-get install clickhouse-server'
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startOldClickhouse } = await import('../../servers/clickhouse.js')
  return databaseOf(await startOldClickhouse({ dir: folder }))
}
