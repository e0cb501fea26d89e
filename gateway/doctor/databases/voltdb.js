/** @typedef {import('../../databases/voltdb/connection.js').VoltdbServer} Server */

export const resolutionMs = 1

/** @param {Server} server */
export async function timeMs (server) {
  const [[ms]] = await server.query('SELECT TOP 1 SINCE_EPOCH(MILLISECOND, NOW) FROM sluice_commits')
  return Number(ms)
}
