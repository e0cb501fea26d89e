import { rowsOf } from './connection.js'
import { quoteTable } from './influxql.js'

/**
 * Points that have become too old. What the server keeps only for a time, by a retention policy or the period of a bucket, it removes by
 * itself; Sluice changes neither, as other measurements are in them.
 * @param {import('./connection.js').InfluxdbServer} server
 * @param {import('./versions.js').Place} rows
 * @param {string} measurement
 * @param {string[]|null} sources  null: all that are in it
 * @returns {import('../recorded/aging.js').AgingTable}
 */
export function agingMeasurement (server, rows, measurement, sources) {
  const { database, policy } = rows
  return {
    isOwned: true,
    async span () {
      const [oldest, newest] = await Promise.all(['ASC', 'DESC'].map(async order => {
        const one = `SELECT * FROM ${quoteTable(policy, measurement)} ORDER BY time ${order} LIMIT 1`
        return rowsOf(await server.query(one, { database }))[0]?.time
      }))
      return oldest === undefined ? null : { oldest: BigInt(oldest), newest: BigInt(newest) }
    },
    async removeBefore (before) {
      for (const source of sources ?? [undefined]) await server.expire(rows, { measurement, source, before })
      return 0 // the server does not tell
    }
  }
}
