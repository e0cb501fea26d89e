/**
 * The databases that a run can store in, by type. A module here knows one of them: how to start it as a process of its own
 * and what a sink needs to know to find it; what reads it back for the check is its store, beside.
 *
 * @typedef {import('../check/check.js').Store} Store
 * @typedef {import('../rig/victim.js').Process} Process
 *
 * @typedef {object} DatabaseModule
 * @property {string} title
 * @property {() => Promise<string|null>} missing  what keeps this machine from running it, null when nothing does
 * @property {(folder: string) => Promise<Database>} start  `folder` exists, is empty and is for all that it keeps
 *
 * @typedef {object} Database  running
 * @property {string} type  of its sink
 * @property {object} sink  options of its sink node, without those of the writer
 * @property {object} [server]  options of the config node of its server, where it has one
 * @property {Record<string, string>} [credentials]  of that node
 * @property {Process} [process]  what can be killed, where it is more than files of the gateway
 * @property {Restorable} [restorable]  where it can be set back
 * @property {() => Promise<Store>} openStore  what it holds; it must be running
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Restorable  a process of its own must be down meanwhile
 * @property {() => Promise<void>} save  keeps a copy of what it holds
 * @property {() => Promise<void>} restore  puts that in its place
 */

/** @type {Record<string, () => Promise<DatabaseModule>>} */
export const databaseTypes = {
  sqlite: () => import('./sqlite.js'),
  postgresql: () => import('./postgresql.js'),
  mysql: () => import('./mysql.js'),
  mongodb: () => import('./mongodb.js'),
  influxdb: () => import('./influxdb.js'),
  clickhouse: () => import('./clickhouse.js'),
  'clickhouse-old': () => import('./clickhouse-old.js'),
  cassandra: () => import('./cassandra.js'),
  questdb: () => import('./questdb.js'),
  voltdb: () => import('./voltdb.js'),
  warp10: () => import('./warp10.js'),
  kafka: () => import('./kafka.js'),
  duckdb: () => import('./duckdb.js'),
  file: () => import('./file.js')
}
