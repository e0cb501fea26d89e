/** @typedef {import('../../databases/warp10/connection.js').Warp10Server} Server */

/** That of the header in which HTTP tells it. */
export const resolutionMs = 1000

/** @param {Server} server */
export async function timeMs (server) {
  return (await server.facts()).timeMs
}
