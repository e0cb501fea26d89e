/** @typedef {import('../../databases/cassandra/connection.js').CassandraServer} Server */

export const resolutionMs = 1

/** Of the node that answers. @param {Server} server */
export function timeMs (server) {
  return server.use(async client => {
    const { rows: [{ ms }] } = await client.execute('SELECT toUnixTimestamp(now()) AS ms FROM system.local')
    return Number(ms)
  })
}
