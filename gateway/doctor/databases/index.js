/**
 * What a server tells about itself beyond that it answers, by the type of the database. Each is a module of functions; one that a server
 * cannot answer is missing or rejects, and nothing is said then.
 *
 * @typedef {object} ServerFacts
 * @property {(server: any) => Promise<number>} [timeMs]  of the server's clock, since 1970
 * @property {number} [resolutionMs]  of that time
 * @property {(server: any, sinks: Record<string, any>[]) => Promise<Rights>} [rights]  `sinks`: the options of those that store there
 * @property {(server: any) => Promise<Disk[]>} [disks]
 *
 * @typedef {object} Rights
 * @property {string[]} lacking  rights that a sink needs and its user has not: "INSERT on machine"
 * @property {import('../../stats/phrases.js').Phrase} fix  how to grant them
 * @property {boolean} [isReadOnly]  the server takes no writes
 *
 * @typedef {{name: import('../../stats/phrases.js').Phrase, freeBytes: number, totalBytes: number}} Disk
 */

/** @type {Record<string, () => Promise<ServerFacts>>} */
export const serverFacts = {
  postgresql: () => import('./postgresql.js'),
  mysql: () => import('./mysql.js'),
  mongodb: () => import('./mongodb.js'),
  influxdb: () => import('./influxdb.js'),
  clickhouse: () => import('./clickhouse.js'),
  cassandra: () => import('./cassandra.js'),
  questdb: () => import('./questdb.js'),
  voltdb: () => import('./voltdb.js'),
  warp10: () => import('./warp10.js'),
  hana: () => import('./hana.js'),
  kafka: async () => ({}),
  hbase: async () => ({})
}
