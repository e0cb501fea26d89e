/** @typedef {import('../../databases/influxdb/connection.js').InfluxdbServer} Server */

/** That of the header in which HTTP tells it. */
export const resolutionMs = 1000

/** @param {Server} server */
export async function timeMs (server) {
  return Date.parse((await server.ping()).date)
}
