/** @typedef {import('../../databases/hana/connection.js').HanaServer} Server */

export const resolutionMs = 1000

/** @param {Server} server */
export async function timeMs (server) {
  const [{ T: time }] = await server.use(session => session.rows('SELECT TO_VARCHAR(CURRENT_UTCTIMESTAMP) AS T FROM DUMMY'))
  return Date.parse(`${String(time).slice(0, 19).replace(' ', 'T')}Z`)
}
