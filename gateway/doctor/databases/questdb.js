/** @typedef {import('../../databases/questdb/connection.js').QuestdbServer} Server */

export const resolutionMs = 1

/** @param {Server} server */
export async function timeMs (server) {
  const [[microseconds]] = await server.query('SELECT now()::long')
  return Number(microseconds) / 1000
}
