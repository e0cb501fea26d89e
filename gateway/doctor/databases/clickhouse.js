import { said } from '../../stats/phrases.js'

/** @typedef {import('../../databases/clickhouse/connection.js').ClickhouseServer} Server */

/** Old servers know no parts of seconds. */
export const resolutionMs = 1000

/** @param {Server} server */
export async function timeMs (server) {
  const [[seconds]] = await server.query('SELECT toUnixTimestamp(now())')
  return Number(seconds) * 1000
}

/** @param {Server} server @returns {Promise<import('./index.js').Rights>} */
export async function rights (server) {
  const [[readonly]] = await server.query('SELECT value FROM system.settings WHERE name = \'readonly\'')
  const lacking = []
  for (const right of ['CREATE TABLE', 'SELECT', 'INSERT']) {
    const [[may]] = await server.query(`CHECK GRANT ${right} ON *`)
    if (may !== '1') lacking.push(right)
  }
  const fix = said`Grant them: GRANT CREATE TABLE, ALTER, SELECT, INSERT ON ${server.database}.* TO …`
  return { isReadOnly: readonly === '1', lacking, fix }
}

/** @param {Server} server @returns {Promise<import('./index.js').Disk[]>} */
export async function disks (server) {
  const rows = await server.query('SELECT name, free_space, total_space FROM system.disks WHERE total_space BETWEEN 1 AND pow(2, 62)')
  return rows.map(([name, free, total]) => ({ name: said`its disk "${name}"`, freeBytes: Number(free), totalBytes: Number(total) }))
}
